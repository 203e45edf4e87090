# SPDX-License-Identifier: Apache-2.0
"""`flitwarp parse`: every number that it prints or writes against plain Python over the same log, and what it says about
logs, filters and options that are not right. Logs come from real runs with messages of several packets, detours and two
applications; one with transactions is made up. Refusals run under sanitizers where $FLITWARP_ASAN is built."""
import csv
import io
import json
import math
import os
import random
import re
import subprocess
from collections import defaultdict

import pytest

from support import PROGRAM, ROOT

ASAN = os.environ.get("FLITWARP_ASAN", "")
REFUSING = ASAN if ASAN and os.access(ASAN, os.X_OK) else PROGRAM
HEADER = ("application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,created,injected,"
          "head_arrived,tail_arrived")
LINE = "0,3,7,5,5,2,2,3,2,100,110,120,121"
FIRST = "workload.applications.0"
RUNS = {
    "detours": ("torus_uniform.json", "network.routing=valiant", "network.router.num_vcs=8", f"{FIRST}.load=0.2",
                f'{FIRST}.size={{"type": "uniform", "min": 1, "max": 7}}', f"{FIRST}.max_packet=2",
                f"{FIRST}.warmup=500", f"{FIRST}.sample=1500"),
    "two": ("pulse_on_blast.json", f"{FIRST}.warmup=500", f"{FIRST}.sample=2500", f"{FIRST}.load=0.2",
            "workload.applications.1.messages=20", "workload.applications.1.delay=200",
            'workload.applications.1.size={"type": "fixed", "flits": 9}', "workload.applications.1.max_packet=4"),
    "saturated": ("torus_uniform.json", f"{FIRST}.load=0.9", f"{FIRST}.warmup=500", f"{FIRST}.sample=1000",
                  f'{FIRST}.size={{"type": "fixed", "flits": 6}}', f"{FIRST}.max_packet=2"),
}
PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9, "p99.99": 99.99, "p99.999": 99.999}


def parse(*arguments, status=0, program=PROGRAM, **more):
    ended = subprocess.run([program, "parse", *map(str, arguments)], capture_output=True, timeout=120, check=False, **more)
    assert ended.returncode == status, f"exit status {ended.returncode}: {ended.stderr.decode(errors='replace')}"
    return ended


def summary_of(*arguments, **more):
    return json.loads(parse(*arguments, "--json", **more).stdout)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Paths of the logs by name; NAME.json beside a real one holds the results of its run."""
    folder = tmp_path_factory.mktemp("logs")
    paths = {name: folder / f"{name}.csv" for name in (*RUNS, "transactions")}
    for name, (example, *overrides) in RUNS.items():
        subprocess.run([PROGRAM, "run", ROOT / "examples" / example, *overrides, "--log", paths[name], "--results",
                        folder / f"{name}.json", "--quiet"], check=True, timeout=120)
    paths["transactions"].write_text(transaction_log(2000))
    return paths


def transaction_log(count):
    """Requests of one or two packets with one to three answers; every fifth transaction does not say how many messages
    it has, every seventh lacks its last packet. Columns are out of order, with one that nobody knows."""
    draw = random.Random(11)
    columns = ["remark", "transaction_messages", "transaction", "initiator", *HEADER.split(",")[::-1]]
    rows, packets = [], defaultdict(int)
    for number in range(count):
        initiator, start, messages = draw.randrange(16), 10 * number, draw.randrange(2, 5)
        here = []
        for index in range(messages):
            other = (initiator + 1 + draw.randrange(15)) % 16
            source, destination = (initiator, other) if index == 0 else (other, initiator)
            first, created = packets[source], start + 500 * index + draw.randrange(100)
            for _ in range(2):
                hops, injected = draw.randrange(2, 9), created + draw.randrange(30)
                here.append({"remark": "a word", "transaction_messages": 0 if number % 5 == 0 else messages,
                             "transaction": number, "initiator": initiator, "application": 0, "source": source,
                             "destination": destination, "packet": packets[source], "message": first,
                             "message_flits": 6, "packet_flits": 3, "hops": hops,
                             "minimal_hops": hops - draw.randrange(2), "created": created, "injected": injected,
                             "head_arrived": injected + 20, "tail_arrived": injected + 22 + draw.randrange(2000)})
                packets[source] += 1
        rows += here[:-1] if number % 7 == 0 else here
    rows.sort(key=lambda row: row["tail_arrived"])
    return "\n".join([",".join(columns), *(",".join(str(row[key]) for key in columns) for row in rows)]) + "\n"


# ---- the same in Python ----


def packets_of(path):
    with open(path) as file:
        rows = [{key: int(value) for key, value in row.items() if key != "remark"} for row in csv.DictReader(file)]
    for row in rows:
        row.update(flits=row["packet_flits"], packets=1, nonminimal=int(row["hops"] > row["minimal_hops"]))
    return [with_latencies(row) for row in rows]


def with_latencies(row):
    row["latency"] = row["tail_arrived"] - row["created"]
    row["network_latency"] = row["tail_arrived"] - row["injected"]
    return row


def joined(rows, **more):
    """One record from several; `more` adds what only the new one has."""
    earliest = min(rows, key=lambda row: row["created"])
    return with_latencies({
        **earliest, "flits": sum(row["flits"] for row in rows), "packets": sum(row["packets"] for row in rows),
        **{key: max(row[key] for row in rows) for key in ("hops", "minimal_hops", "nonminimal", "tail_arrived")},
        "injected": min(row["injected"] for row in rows), **more})


def messages_of(packets):
    """Complete messages in the order of their completion, and the packets of incomplete ones by message."""
    open_ones, complete = defaultdict(list), []
    for packet in packets:
        key = packet["application"], packet["source"], packet["message"]
        open_ones[key].append(packet)
        if sum(row["flits"] for row in open_ones[key]) == packet["message_flits"]:
            complete.append(joined(open_ones.pop(key), messages=1))
    return complete, list(open_ones.values())


def transactions_of(packets):
    messages, open_messages = messages_of(packets)
    if "transaction" not in packets[0]:
        return [{**row, "initiator": row["source"], "transaction": row["message"]} for row in messages], open_messages
    name = lambda row: (row["initiator"], row["transaction"])
    lacking = {name(rows[0]): list(rows) for rows in open_messages}
    groups, complete = defaultdict(list), []
    for message in messages:
        key = name(message)
        groups[key].append(message)
        if len(groups[key]) == message["transaction_messages"]:
            complete.append(joined(groups.pop(key), messages=message["transaction_messages"]))
    for key in sorted(groups):
        if groups[key][0]["transaction_messages"] == 0 and key not in lacking:
            complete.append(joined(groups[key], messages=len(groups[key])))
        else:
            lacking.setdefault(key, []).extend(groups[key])
    return complete, list(lacking.values())


def records_of(path, of="packets"):
    packets = packets_of(path)
    return {"packets": lambda p: (p, []), "messages": messages_of, "transactions": transactions_of}[of](packets)


def percentile(values, percent):
    """Nearest rank, by whole numbers: percent has three decimals at the most."""
    thousandths = round(percent * 1000)
    return sorted(values)[max(1, -(-thousandths * len(values) // 100000)) - 1]


def is_near(found, exact):
    """As near as the histogram promises."""
    return found == exact if exact < 256 else abs(found - exact) <= 0.004 * exact


def check_block(block, values):
    mean = sum(values) / len(values)
    assert block["count"] == len(values)
    assert block["mean"] == mean
    assert (block["min"], block["max"]) == (min(values), max(values))
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    assert block["stddev"] == pytest.approx(deviation, rel=1e-9, abs=1e-6)
    for key, percent in PERCENTILES.items():
        assert is_near(block[key], percentile(values, percent)), key


def check_summary(summary, records):
    flits = sum(row["flits"] for row in records)
    first, last = min(row["created"] for row in records), max(row["tail_arrived"] for row in records)
    assert summary["kept"] == len(records) and summary["flits"] == flits
    assert (summary["first_created"], summary["last_arrived"], summary["span"]) == (first, last, last - first)
    assert summary["throughput"] == flits / (last - first)
    assert summary["nonminimal"] == sum(row["nonminimal"] for row in records)
    assert summary["nonminimal_share"] == summary["nonminimal"] / len(records)
    columns = {"latency": "latency", "network_latency": "network_latency", "hops": "hops",
               "minimal_hops": "minimal_hops", "size": "flits"}
    if summary["of"] != "packets":
        columns["packets"] = "packets"
    if summary["of"] == "transactions":
        columns["messages"] = "messages"
    assert {key for key, value in summary.items() if isinstance(value, dict)} == set(columns)
    for key, column in columns.items():
        check_block(summary[key], [row[column] for row in records])


# ---- the summary ----

CASES = [(log, of) for log in (*RUNS, "transactions") for of in ("packets", "messages", "transactions")]


@pytest.mark.parametrize("log, of", CASES)
def test_summary_is_right(log, of, logs):
    records, incomplete = records_of(logs[log], of)
    summary = summary_of(logs[log], "--of", of)
    check_summary(summary, records)
    assert summary["packets_read"] == len(packets_of(logs[log])) and summary["read"] == len(records)
    assert summary["incomplete"] == len(incomplete)
    assert summary["incomplete_packets"] == sum(row["packets"] for rows in incomplete for row in rows)
    assert (summary["log"], summary["of"], summary["filters"]) == (str(logs[log]), of, [])


def test_logs_have_what_the_tests_are_about(logs):
    detours, two = packets_of(logs["detours"]), packets_of(logs["two"])
    assert {row["nonminimal"] for row in detours} == {0, 1} and len(messages_of(detours)[0]) < len(detours)
    assert {row["application"] for row in two} == {0, 1}
    assert messages_of(packets_of(logs["saturated"]))[1] and transactions_of(packets_of(logs["transactions"]))[1]


@pytest.mark.parametrize("log", ["detours", "two"])
def test_summary_agrees_with_the_results_of_the_run(log, logs):
    results = json.loads(logs[log].with_suffix(".json").read_text())
    for number, application in enumerate(results["applications"]):
        packets = summary_of(logs[log], f"+app={number}")
        messages = summary_of(logs[log], f"+app={number}", "--of", "messages")
        assert packets["kept"] == application["packets"]
        assert packets["nonminimal_share"] == application["nonminimal_share"]
        for found, expected in ((packets["latency"], "packet_latency"), (packets["network_latency"], "network_latency"),
                                (messages["latency"], "message_latency"), (packets["hops"], "hops"),
                                (packets["minimal_hops"], "minimal_hops")):
            shared = {key: value for key, value in application[expected].items() if key not in ("ci95", "distribution")}
            assert {key: found[key] for key in shared} == shared


def test_summary_for_people_has_the_same_numbers(logs):
    summary = summary_of(logs["saturated"], "--of", "messages", "+latency=20-")
    text = parse(logs["saturated"], "--of", "messages", "+latency=20-").stdout.decode()
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    names = ["latency", "network_latency", "hops", "minimal_hops", "size", "packets"]
    assert [line.split() for line in text.splitlines()].count(names) == 1
    for key in summary["latency"]:
        assert [float(cell) for cell in rows[key]] == pytest.approx([summary[name][key] for name in names], rel=1e-5)
    assert f"read          {summary['packets_read']} packets in {summary['read']} messages" in text
    assert f"; {summary['incomplete']} more are incomplete, with {summary['incomplete_packets']} packets" in text
    assert f"kept          {summary['kept']} messages" in text and text.count("+latency=20-") == 1
    assert f"flits         {summary['flits']}\n" in text
    assert f"ticks         {summary['first_created']} to {summary['last_arrived']}," in text
    assert f"throughput    {summary['throughput']:.6g} flits/tick" in text
    assert f"nonminimal    {summary['nonminimal']} (" in text


# ---- filters ----

FILTERS = {
    "app": (["+app=1"], "two", "packets", lambda r: r["application"] == 1),
    "application": (["-application=1"], "two", "packets", lambda r: r["application"] != 1),
    "src": (["+src=3,5-7,60-"], "two", "packets", lambda r: r["source"] in (3, 5, 6, 7) or r["source"] >= 60),
    "not src": (["-src=-31,40"], "two", "packets", lambda r: r["source"] > 31 and r["source"] != 40),
    "dst": (["+dst=9"], "two", "packets", lambda r: r["destination"] == 9),
    "packet": (["+src=3", "+packet=-120"], "two", "packets", lambda r: r["source"] == 3 and r["packet"] <= 120),
    "message": (["+message=100-110"], "detours", "messages", lambda r: 100 <= r["message"] <= 110),
    "send": (["+send=700-800"], "two", "packets", lambda r: 700 <= r["created"] <= 800),
    "inject": (["-injected=700-"], "two", "packets", lambda r: r["injected"] < 700),
    "recv": (["+recv=-900", "-arrived=-800"], "two", "packets", lambda r: 800 < r["tail_arrived"] <= 900),
    "hops": (["+hops=0,2,4,6"], "detours", "packets", lambda r: r["hops"] % 2 == 0 and r["hops"] <= 6),
    "minimal_hops": (["+minhops=1"], "detours", "messages", lambda r: r["minimal_hops"] == 1),
    "size": (["+size=2-5"], "detours", "messages", lambda r: 2 <= r["flits"] <= 5),
    "size of packets": (["-flits=2"], "detours", "packets", lambda r: r["flits"] != 2),
    "packets": (["+packets=3-"], "detours", "messages", lambda r: r["packets"] >= 3),
    "messages": (["+messages=3"], "transactions", "transactions", lambda r: r["messages"] == 3),
    "latency": (["+latency=40-90"], "detours", "packets", lambda r: 40 <= r["latency"] <= 90),
    "network_latency": (["-network_latency=-50"], "detours", "packets", lambda r: r["network_latency"] > 50),
    "nonminimal": (["+nonminimal"], "detours", "messages", lambda r: r["nonminimal"]),
    "minimal": (["-nonminimal"], "detours", "packets", lambda r: not r["nonminimal"]),
    "initiator": (["+initiator=3"], "transactions", "packets", lambda r: r["initiator"] == 3),
    "transaction": (["+transaction=100-200"], "transactions", "transactions", lambda r: 100 <= r["transaction"] <= 200),
    "several": (["+src=0-31", "-dst=0-15", "+hops=3-", "-nonminimal", "+latency=-200"], "detours", "packets",
                lambda r: r["source"] < 32 and r["destination"] > 15 and r["hops"] >= 3 and not r["nonminimal"]
                and r["latency"] <= 200),
    "one name twice": (["+src=0-31", "+src=16-47", "-src=20"], "detours", "packets",
                       lambda r: 16 <= r["source"] <= 31 and r["source"] != 20),
}


@pytest.mark.parametrize("filters, log, of, keeps", FILTERS.values(), ids=FILTERS)
def test_filter_keeps_the_right_records(filters, log, of, keeps, logs):
    records, _ = records_of(logs[log], of)
    kept = [row for row in records if keeps(row)]
    assert 0 < len(kept) < len(records)
    summary = summary_of(*filters, logs[log], "--of", of)
    check_summary(summary, kept)
    assert summary["read"] == len(records) and summary["filters"] == filters


# ---- files ----


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_records_of_packets_are_the_lines_of_the_log(logs):
    for log in ("two", "transactions"):
        lines = logs[log].read_text().splitlines()
        source = lines[0].split(",").index("source")
        kept = [line for line in lines[1:] if line.split(",")[source] in ("3", "4")]
        assert parse(logs[log], "+src=3,4", "--csv", "-").stdout.decode().splitlines() == [lines[0], *kept]
        assert parse(logs[log], "--csv", "-").stdout == logs[log].read_bytes()


@pytest.mark.parametrize("log, of", [case for case in CASES if case[1] != "packets"])
def test_records_of_messages_and_transactions_have_their_properties(log, of, logs):
    records, _ = records_of(logs[log], of)
    columns = ["application", "source", "destination", "message", "initiator", "transaction", "messages", "packets",
               "flits", "hops", "minimal_hops", "nonminimal", "created", "injected", "tail_arrived", "latency",
               "network_latency"]
    if of == "messages":
        columns.remove("messages")
    else:
        columns.remove("message")
    text = parse(logs[log], "--of", of, "--csv", "-").stdout.decode()
    assert text.splitlines()[0] == ",".join(columns)
    assert [{key: int(value) for key, value in row.items()} for row in rows_of(text)] == [
        {key: row[key] for key in columns} for row in records]


@pytest.mark.parametrize("log, of", [("detours", "packets"), ("saturated", "messages")])
def test_distribution_covers_every_record(log, of, logs):
    records, _ = records_of(logs[log], of)
    latencies = [row["latency"] for row in records]
    rows = rows_of(parse(logs[log], "--of", of, "--distribution", "-").stdout.decode())
    seen, last = 0, -1
    for row in rows:
        low, high = int(row["low"]), int(row["high"])
        assert last < low <= high and (low == high or high - low < low / 127)
        count = sum(low <= latency <= high for latency in latencies)
        seen, last = seen + count, high
        assert int(row["count"]) == count > 0
        assert float(row["cumulative_share"]) == pytest.approx(seen / len(latencies), abs=6e-7)
    assert seen == len(latencies)


@pytest.mark.parametrize("log, of", [("two", "packets"), ("detours", "messages")])
def test_matrix_has_every_pair(log, of, logs):
    pairs = defaultdict(list)
    for row in records_of(logs[log], of)[0]:
        if row["hops"] >= 2:
            pairs[row["source"], row["destination"]].append(row)
    rows = rows_of(parse(logs[log], "--of", of, "+hops=2-", "--matrix", "-").stdout.decode())
    assert [(int(row["source"]), int(row["destination"])) for row in rows] == sorted(pairs)
    for row in rows:
        members = pairs[int(row["source"]), int(row["destination"])]
        latencies = [member["latency"] for member in members]
        assert int(row["count"]) == len(members) and int(row["flits"]) == sum(member["flits"] for member in members)
        assert float(row["latency_mean"]) == pytest.approx(sum(latencies) / len(latencies), abs=6e-7)
        assert int(row["latency_max"]) == max(latencies)


@pytest.mark.parametrize("log, of, interval", [("two", "packets", 100), ("saturated", "messages", 33),
                                               ("transactions", "transactions", 7)])
def test_series_has_every_interval(log, of, interval, logs):
    bins = defaultdict(list)
    for row in records_of(logs[log], of)[0]:
        bins[row["created"] // interval].append(row)
    text = parse(logs[log], "--of", of, "--series", "-", "--interval", interval).stdout.decode()
    rows = rows_of(text)
    assert [int(row["start"]) for row in rows] == [interval * n for n in range(min(bins), max(bins) + 1)]
    for row in rows:
        members = bins[int(row["start"]) // interval]
        latencies = [member["latency"] for member in members]
        assert int(row["count"]) == len(members) and int(row["flits"]) == sum(member["flits"] for member in members)
        if not members:
            assert {row[key] for key in row if key.startswith("latency")} == {""}
            continue
        assert float(row["latency_mean"]) == pytest.approx(sum(latencies) / len(latencies), abs=6e-7)
        assert is_near(int(row["latency_p50"]), percentile(latencies, 50))
        assert is_near(int(row["latency_p99"]), percentile(latencies, 99))
        assert int(row["latency_max"]) == max(latencies)
    assert log != "transactions" or any(row["count"] == "0" for row in rows)


def test_all_outputs_come_from_one_pass_and_are_the_same_each_time(logs, tmp_path):
    alone = {flag: parse(logs["detours"], "+hops=3-", flag, "-", *more).stdout for flag, *more in
             (["--csv"], ["--distribution"], ["--matrix"], ["--series", "--interval", "50"])}
    for attempt in ("first", "second"):
        folder = tmp_path / attempt
        folder.mkdir()
        files = [word for flag in alone for word in (flag, folder / flag.strip("-"))]
        ended = parse(logs["detours"], "+hops=3-", *files, "--interval=50", "--json")
        check_summary(json.loads(ended.stdout), [row for row in packets_of(logs["detours"]) if row["hops"] >= 3])
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
            flag.strip("-"): content for flag, content in alone.items()}


def test_files_whose_names_end_in_zst_are_compressed_and_can_be_parsed(logs, tmp_path):
    out = tmp_path / "kept.csv.zst"
    parse(logs["two"], "+app=1", "--csv", out, "--matrix", tmp_path / "matrix.csv.zst")
    unpacked = subprocess.run(["zstd", "-dc", out], capture_output=True, check=True).stdout
    assert unpacked == parse(logs["two"], "+app=1", "--csv", "-").stdout
    first, second = summary_of(logs["two"], "+app=1"), summary_of(out)
    assert {key: value for key, value in first.items() if key not in ("log", "filters", "packets_read", "read")} == {
        key: value for key, value in second.items() if key not in ("log", "filters", "packets_read", "read")}


# ---- where the log comes from ----


def test_log_is_read_plain_or_compressed_from_file_or_standard_input(logs, tmp_path):
    plain = logs["two"].read_bytes()
    packed = subprocess.run(["zstd", "-c"], input=plain, capture_output=True, check=True).stdout
    odd_name = tmp_path / "log.txt"
    odd_name.write_bytes(packed)
    halves = plain[:len(plain) // 2], plain[len(plain) // 2:]
    two_frames = b"".join(subprocess.run(["zstd", "-c"], input=half, capture_output=True, check=True).stdout
                          for half in halves)
    expected = summary_of(logs["two"])
    for arguments, content in ((("-",), plain), (("-",), packed), ((odd_name,), b""), (("-",), two_frames),
                               (("-",), plain.replace(b"\n", b"\r\n"))):
        found = summary_of(*arguments, input=content)
        assert {**found, "log": ""} == {**expected, "log": ""}


def test_lines_with_returns_come_out_without(logs):
    plain = logs["transactions"].read_bytes()
    assert parse("-", "--csv", "-", input=plain.replace(b"\n", b"\r\n")).stdout == plain


def test_slow_pipe_is_read_to_its_end(logs):
    content = logs["two"].read_bytes()
    with subprocess.Popen([PROGRAM, "parse", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        for start in range(0, len(content), 4999):
            program.stdin.write(content[start:start + 4999])
            program.stdin.flush()
        program.stdin.close()
        assert json.loads(program.stdout.read())["kept"] == content.count(b"\n") - 1


def test_help_names_filters_and_options():
    text = parse("--help").stdout.decode()
    for word in ("+NAME=VALUES", "-NAME=VALUES", "src, source", "send, created", "recv, tail_arrived", "nonminimal",
                 "--of", "--json", "--csv", "--distribution", "--matrix", "--series", "--interval"):
        assert word in text
    assert "parse" in subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout


# ---- refusals ----

OPTIONS = {
    "nothing": ([], "no log is given", "usage: flitwarp parse LOG"),
    "two logs": (["good.csv", "other.csv"], "'other.csv' comes after the log and is no filter", "begins with + or -"),
    "an unknown option": (["good.csv", "--fast"], "'--fast' is not understood", "usage:"),
    "an option without its value": (["good.csv", "--csv"], "'--csv' needs a value"),
    "an option in place of a value": (["good.csv", "--csv", "--json"], "'--csv' needs a value"),
    "an unknown unit": (["good.csv", "--of", "flits"], "--of: found 'flits', accepted: packets, messages, transactions"),
    "an unknown filter": (["good.csv", "+souce=3"], "unknown filter 'souce' (did you mean 'source'?), accepted: app, src"),
    "a word as a value": (["good.csv", "+src=a"], "'+src=a': found 'a', accepted: numbers and ranges"),
    "a range backwards": (["good.csv", "-hops=7-3"], "found '7-3'", "the smaller end first"),
    "a filter without values": (["good.csv", "-src"], "'-src': values are missing, accepted: -src=3,5-7"),
    "a claim with values": (["good.csv", "+nonminimal=1"], "nonminimal takes no values, accepted: +nonminimal"),
    "packets of packets": (["good.csv", "+packets=2"], "packets have no 'packets', accepted with --of messages or --of tra"),
    "the message of a transaction": (["good.csv", "+message=2", "--of", "transactions"], "have no 'message', accepted with"),
    "a column that is not there": (["good.csv", "+initiator=2"], "'+initiator=2': good.csv has no column 'initiator'"),
    "a series without interval": (["good.csv", "--series", "s.csv"], "--series needs --interval TICKS beside it"),
    "an interval without series": (["good.csv", "--interval", "5"], "--interval needs --series FILE beside it"),
    "no interval": (["good.csv", "--series", "s.csv", "--interval", "0"], "--interval: found '0', accepted: a number"),
    "an interval with a unit": (["good.csv", "--series", "s.csv", "--interval", "5ns"], "--interval: found '5ns'"),
    "too large an interval": (["good.csv", "--series", "s.csv", "--interval", "9" * 20], "--interval: found '9999"),
    "too small an interval": (["wide.csv", "--series", "s.csv", "--interval", "1"], "--interval: 1 makes more than 10000000 intervals of",
                              "accepted: a larger number of ticks"),
    "two on standard output": (["good.csv", "--csv=-", "--matrix=-"], "--csv and --matrix cannot both go to standard"),
    "JSON and a file on standard output": (["good.csv", "--json", "--csv", "-"], "--json and --csv cannot both go to"),
    "one file twice": (["good.csv", "--csv", "a.csv", "--distribution", "a.csv"], "--distribution: 'a.csv' is the file of --csv too"),
    "the log as output": (["good.csv", "--csv", "good.csv"], "--csv: 'good.csv' is read, and would be written over"),
    "a source that is not there": (["good.csv", "+src=99"], "no packet is left: '+src=99' matches none; the log has src 3"),
    "all dropped": (["good.csv", "-send=0-", "--of", "messages"], "no message is left: '-send=0-' drops all; the log has "
                    "send 100-200"),
    "no detours": (["good.csv", "+nonminimal", "+src=3"], "'+nonminimal' matches none; the log has no nonminimal packets"),
    "nothing in common": (["good.csv", "+send=100", "+send=200"], "of 2 packets, each filter alone leaves some ('+send=100' "
                          "1, '+send=200' 1), all together none"),
    "results": (["results.json"], "'results.json' is JSON", "no packet log; 'flitwarp run CONFIG --log FILE' makes one"),
    "a table of something else": (["table.csv"], "'table.csv' is no packet log: it begins with 'x,y'"),
    "an empty file": (["empty.csv"], "'empty.csv' is empty, no packet log"),
    "a log without packets": (["header.csv"], "'header.csv' is a packet log without packets"),
    "a log without a column": (["missing.csv"], "missing.csv:1: column 'hops' is missing; a packet log begins with '"
                               "application,source,"),
    "a broken line": (["broken.csv"], "broken.csv:3: destination: found 'x', expected a whole number from 0"),
    "a short line": (["short.csv"], "short.csv:3: found 2 fields, expected 13: '0,3'"),
    "a packet twice": (["twice.csv", "--of", "messages"], "twice.csv:3: message 5 of source 3 has other packets", "twice?"),
    "incomplete messages alone": (["part.csv", "--of", "messages"], "'part.csv' has no complete messages, of 1 packets in 1 "),
}
FILES = {
    "good.csv": f"{HEADER}\n{LINE.replace(',3,2,100', ',2,2,100')}\n0,3,7,6,6,1,1,2,2,200,210,220,221\n",
    "wide.csv": f"{HEADER}\n{LINE}\n0,3,7,6,6,1,1,2,2,{10**18},{10**18},{10**18},{10**18}\n",
    "results.json": '{"flitwarp": {"version": "0.1.0"}}\n',
    "table.csv": "x,y\n1,2\n",
    "empty.csv": "",
    "header.csv": f"{HEADER}\n",
    "missing.csv": HEADER.replace(",hops", "") + "\n",
    "broken.csv": f"{HEADER}\n{LINE}\n{LINE.replace(',7,', ',x,')}\n",
    "short.csv": f"{HEADER}\n{LINE}\n0,3\n",
    "cut.csv": f"{HEADER}\n{LINE}",
    "twice.csv": HEADER + f"\n{LINE.replace(',2,2,3', ',3,2,3')}" * 2 + "\n",
    "part.csv": HEADER + f"\n{LINE.replace(',2,2,3', ',3,2,3')}\n",
}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def refuse(files, arguments, expected, status):
    before = sorted(files.iterdir())
    ended = parse(*arguments, status=status, program=REFUSING, cwd=files)
    message = ended.stderr.decode()
    assert "Sanitizer" not in message and "runtime error" not in message
    assert ended.stdout == b"" and sorted(files.iterdir()) == before
    for part in expected:
        assert part in message, f"no '{part}' in: {message}"


@pytest.mark.parametrize("arguments, expected", [(case[0], case[1:]) for case in OPTIONS.values()], ids=OPTIONS)
def test_what_is_wrong_is_refused_and_nothing_is_written(arguments, expected, files):
    refuse(files, arguments, expected, 1)
    if "--csv" not in " ".join(arguments):
        refuse(files, [*arguments, "--csv", "out.csv"], [], 1)


UNREADABLE = {
    "a missing log": (["none.csv"], "cannot read 'none.csv': No such file"),
    "a folder": (["."], "cannot read '.': Is a directory"),
    "a log that is cut off": (["cut.csv"], "cut.csv:2: the last line has no end, the log is cut off"),
    "a compressed log that is cut off": (["cut.csv.zst"], "cannot read 'cut.csv.zst'", "the file is cut off"),
    "a spoilt log": (["spoilt.csv.zst"], "cannot unpack 'spoilt.csv.zst': zstd says"),
    "a file in a missing folder": (["good.csv", "--csv", "a.csv", "--matrix", "none/m.csv"], "none/m.csv", "No such file"),
    "a full disk": (["good.csv", "--csv", "/dev/full"], "cannot write '/dev/full'"),
}


@pytest.mark.parametrize("arguments, expected", [(case[0], case[1:]) for case in UNREADABLE.values()], ids=UNREADABLE)
def test_failed_input_and_output_have_their_own_status(arguments, expected, files, logs):
    packed = subprocess.run(["zstd", "-c", logs["two"]], capture_output=True, check=True).stdout
    (files / "cut.csv.zst").write_bytes(packed[:len(packed) // 2])
    (files / "spoilt.csv.zst").write_bytes(packed[:-4] + bytes(4))
    refuse(files, arguments, expected, 3)


def test_summary_that_cannot_be_written_is_a_failure(files):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([PROGRAM, "parse", files / "good.csv"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 3 and b"cannot write" in ended.stderr


def test_file_that_exists_stays_when_nothing_is_left(files):
    (files / "out.csv").write_text("old")
    parse("good.csv", "+src=99", "--csv", "out.csv", status=1, cwd=files)
    assert (files / "out.csv").read_text() == "old"
    parse("good.csv", "--csv", "out.csv", cwd=files)
    assert (files / "out.csv").read_text() == FILES["good.csv"]


def test_spoilt_logs_are_never_more_than_an_error(logs, tmp_path):
    """Bytes changed at random: an exit status, no signal, and a message for each that is not 0."""
    draw = random.Random(5)
    lines = logs["transactions"].read_bytes().splitlines(keepends=True)[:40]
    for _ in range(60):
        content = bytearray(b"".join(lines))
        for _ in range(draw.randrange(1, 6)):
            content[draw.randrange(len(content))] = draw.choice(b"0123456789,,\n\r\0-x\xff")
        unit = draw.choice(["packets", "messages", "transactions"])
        ended = subprocess.run([REFUSING, "parse", "-", "--of", unit, "--csv", tmp_path / "out.csv"], input=bytes(content),
                               capture_output=True, timeout=60, check=False)
        assert ended.returncode in (0, 1, 3) and b"Sanitizer" not in ended.stderr
        assert bool(ended.returncode) == bool(re.search(rb"\w", ended.stderr))
