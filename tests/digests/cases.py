# SPDX-License-Identifier: Apache-2.0
"""The runs that are recorded: examples, drawn configurations (drawn.jsonl), each setting by itself (settings.jsonl), models of processes, logs and what parse says of
them, and by hand what is seldom drawn."""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import ROOT, has_ranks, launcher, shorter  # noqa: E402

DRAWN = HERE / "drawn.jsonl"
SETTINGS = HERE / "settings.jsonl"
LOG_HEADER = ("application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,created,injected,"
              "head_arrived,tail_arrived")  # of packets
LOGS = ("log", "message-log", "traffic-log", "rate-log", "channel-log")
WAYS = {
    "conservative": ["--sync", "conservative", "--threads", "2"],
    "optimistic": ["--sync", "optimistic", "--threads", "2", "simulator.window=40"],
    "reversal": ["--sync", "optimistic", "--check-reversal"],
}
# Files that drawn configurations name; they lie beside them.
BESIDE = {
    "network.txt": "router 0 node 0 node 3 2 router 1 4 router 2\nrouter 1 node 1 router 2 router 2 3\n"
                   "router 3 node 2 router 2\nrouter 2 router 1 2\n",
    "links.csv": "router,router\n1,4\n2,5,2\n",
    "dissemination.goal": "num_ranks 3\nrank 0 {\na: calc 100\nb: send 70000b to 2 tag 1\nb requires a\n}\n"
                          "rank 1 {\nsend 8b to 2 tag 2\n}\nrank 2 {\nrecv 8b from -1 tag 2\nrecv 70000b from -1 tag -1\n}\n",
}
# Little work of different kinds for models of processes: ties, no lookahead, long delays, processes that hardly talk.
MODELS = {
    "ties": {"type": "phold", "processes": 64, "events": 4, "lookahead": 1, "mean_delay": 2, "end": 150, "remote": 0.5},
    "no_lookahead": {"type": "phold", "processes": 50, "events": 3, "lookahead": 0, "mean_delay": 5, "end": 200, "remote": 1},
    "long_delays": {"type": "phold", "processes": 77, "lookahead": 5000, "mean_delay": 1000000, "end": 12000000},
    "few_remote": {"type": "phold", "processes": 500, "lookahead": 10, "mean_delay": 1000, "end": 8000, "remote": 0.02},
    "few_processes": {"type": "phold", "processes": 3, "lookahead": 10, "mean_delay": 100, "end": 8000},
    "node": {"type": "node", "widths": [4, 4, 3], "rate": 1, "warmup": 500, "sample": 3000},
}
MODEL_WAYS = {
    "conservative": ["--sync", "conservative", "--threads", "3"],
    "optimistic": ["--sync", "optimistic", "--threads", "3"],
    "tiny_window": ["--sync", "optimistic", "--threads", "2", "simulator.window=1"],
    "one_partition": ["--sync", "optimistic", "simulator.partitions=1", "simulator.window=50"],
    "reversal": ["--sync", "optimistic", "--check-reversal"],
}
# One thread does the same each time, also where it runs ahead and is put back.
TOLD_WAYS = {
    "optimistic": ["--sync", "optimistic", "simulator.partitions=4", "simulator.window=60"],
    "sequential": [],
}
# What is asked of a packet log, each after the words `parse packets.csv`.
QUESTIONS = [
    [], ["--json"], ["--of", "messages"], ["--of", "transactions", "--json"], ["+src=0,3-5", "-hops=2-", "--csv", "-"],
    ["+nonminimal", "--json"], ["-latency=-20", "+size=1-3", "--distribution", "-"], ["--matrix", "-"],
    ["--series", "-", "--interval", "50"], ["+send=150-300", "--of", "messages", "--csv", "-"],
    ["-app=1", "+network_latency=5-", "--of", "transactions", "--csv", "-"], ["+recv=200-", "-dst=1", "--json"],
]


class Case:
    """Commands that run one after the other in a folder of their own, which holds `files`; $ROOT stands for the tree."""

    def __init__(self, name, commands, files=None, row=None, keeps_sync=False, ranks=0):
        self.name, self.commands, self.files = name, commands, files or {}
        self.row = row or name  # whose recorded results it must give
        self.keeps_sync = keeps_sync  # what threads did is the same each time, and looked at
        self.launcher = launcher(ranks) if ranks else []


def run_command(config, *arguments, logs=True):
    wanted = [word for name in LOGS for word in (f"--{name}", f"{name}.csv")] + ["--rate-interval", "50"] if logs else []
    return ["run", config, "--quiet", "--results", "results.json", *wanted, *arguments]


def example_cases(program):
    for path in sorted([*ROOT.glob("examples/*.json"), *ROOT.glob("examples/view/*.json"), *ROOT.glob("bench/short/*.json")]):
        name = str(path.relative_to(ROOT))
        few = shorter(path, program) if name.startswith("examples") else []
        is_network = "phold" not in name
        yield Case(name, [run_command(f"$ROOT/{name}", *few, logs=is_network)])
        if is_network and name.startswith("examples/") and "view" not in name:
            yield Case(f"{name} conservative", [run_command(f"$ROOT/{name}", *few, *WAYS["conservative"])], row=name)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def drawn_configs():
    return lines_of(DRAWN)


def settings():
    return lines_of(SETTINGS)


def settings_cases():
    """Each setting of a component by itself; what is refused is refused in the same words. A packet's walk shows the stages."""
    for config in settings():
        name, asked = config.pop("name"), config.pop("asked")
        plain = ["run", "config.json", "--quiet"]
        walks = [["trace", "config.json", "--packet", number] for number in ("1", "5.2")] if "by setting" in name else []
        yield Case(name, [plain, ["check", "config.json"], *walks, *([*plain, word] for word in asked)], {"config.json": json.dumps(config)})


def drawn_cases():
    for config in drawn_configs():
        name, way = config.pop("name"), config.pop("way")
        files = {"config.json": json.dumps(config), **BESIDE}
        yield Case(name, [run_command("config.json")], files)
        if way:
            yield Case(f"{name} {way}", [run_command("config.json", *WAYS[way])], files, name)


def model_cases():
    for name, model in MODELS.items():
        files = {"config.json": json.dumps({"simulator": {"seed": 3}, "model": model})}
        yield Case(f"model {name}", [run_command("config.json", logs=False)], files)
        for way, words in MODEL_WAYS.items():
            if not (name == "no_lookahead" and way == "conservative"):
                yield Case(f"model {name} {way}", [run_command("config.json", *words, logs=False)], files, f"model {name}")
        for way, words in TOLD_WAYS.items():
            yield Case(f"model {name}, told: {way}", [run_command("config.json", *words, logs=False)], files, keeps_sync=True)


def log_cases():
    """Logs of a run with detours, replies and two applications, and what parse says of them."""
    overrides = ["workload.applications.0.load=0.2", "workload.applications.0.warmup=100", "workload.applications.0.sample=200",
                 "workload.applications.0.size={\"type\": \"uniform\", \"max\": 5}", "workload.applications.0.max_packet=2",
                 "workload.applications.0.reply={\"type\": \"fixed\", \"flits\": 2}"]
    written = ["run", "$ROOT/examples/dragonfly_ugal.json", *overrides, "--quiet", "--results", "results.json", "--log", "packets.csv"]
    yield Case("parse", [written, *(["parse", "packets.csv", *words] for words in QUESTIONS)])
    yield Case("parse compressed", [[*written[:-1], "packets.csv.zst", "--message-log", "messages.csv.zst"],
                                    ["parse", "packets.csv.zst", "--csv", "-"], ["parse", "packets.csv.zst", "+src=2", "--json"]])
    yield Case("baseline", [["run", "$ROOT/examples/many_jobs.json", "--quiet", "--baseline", "--results", "results.json"]])


def packed_log_cases():
    """Logs that are compressed, or begin as if they were; ends of lines of other systems; what cannot be read."""
    text = f"{LOG_HEADER}\n0,3,7,5,5,2,2,2,2,100,110,120,121\n".encode()
    frame = b"\x28\xb5\x2f\xfd"  # then: one segment of so many bytes, and a last block that is stored as it is
    packed = frame + b"\x20" + bytes([len(text)]) + (len(text) << 3 | 1).to_bytes(3, "little") + text
    skipped = b"\x50\x2a\x4d\x18\x02\0\0\0ab"
    files = {
        "packed.csv": packed, "cut.csv": packed[:-9], "magic.csv": frame, "spoilt.csv": frame + b"\xff" * 40, "skipped.csv": skipped + packed,
        "last_skipped.csv": b"\x5f" + skipped[1:] + packed, "unlike.csv": b"\x60" + skipped[1:] + packed, "also_unlike.csv": skipped[:3] + b"\x19" + packed,
        "two.csv": packed + packed[:8] + packed[8:], "crlf.csv": text.replace(b"\n", b"\r\n"), "no_end.csv": text[:-1], "short.csv": text[:3],
        "crlf_more.csv": text.replace(b"\n", b",1\r\n").replace(b"arrived,1", b"arrived,colour"),
    }
    for name in [*files, ".", "nowhere.csv"]:
        yield Case(f"parse packed {name}", [["parse", name, "--csv", "-"]], files)


def wrong_log_cases():
    """Logs that are none, and questions that have no answer."""
    header = LOG_HEADER
    line = "0,3,7,5,5,2,2,3,2,100,110,120,121"
    files = {
        "good.csv": f"{header}\n{line.replace(',3,2,100', ',2,2,100')}\n0,3,7,6,6,1,1,2,2,200,210,220,221\n",
        "results.json": ' \t{"flitwarp": {"version": "0.1.0"}}\n', "table.csv": "x,y\n1,2\n", "empty.csv": "", "header.csv": f"{header}\n",
        "missing.csv": header.replace(",hops", "") + "\n", "two.csv": header.replace(",hops", "").replace(",injected", "") + "\n",
        "double.csv": header + ",hops\n" + line + ",3\n", "more.csv": header + ",colour\n" + line + ",7\n",
        "broken.csv": f"{header}\n{line}\n{line.replace(',7,', ',x,')}\n", "short.csv": f"{header}\n{line}\n0,3\n",
        "slash.csv": f"{header}\n{line.replace(',7,', ',1/,')}\n", "colon.csv": f"{header}\n{line.replace(',7,', ',:1,')}\n",
        "blank.csv": f"{header}\n{line.replace(',7,', ',,')}\n", "huge.csv": f"{header}\n{line.replace(',7,', ',18446744073709551616,')}\n",
        "long.csv": f"{header}\n{line},{'9' * 100}\n", "largest.csv": f"{header}\n{line.replace(',121', ',18446744073709551615')}\n",
        "twice.csv": header + f"\n{line.replace(',2,2,3', ',3,2,3')}" * 2 + "\n", "part.csv": header + f"\n{line.replace(',2,2,3', ',3,2,3')}\n",
        "early.csv": f"{header}\n{line.replace(',121', ',99')}\n",
        "transactions.csv": f"{header},initiator\n{line},3\n", "backwards.csv": f"{header}\n{line.replace(',110,', ',90,')}\n",
    }
    asked = [[name] for name in files] + [["good.csv", *words.split()] for words in (
        "--of flits", "+souce=3", "+src=a", "-hops=7-3", "-src", "+nonminimal=1", "+packets=2", "+message=2 --of transactions",
        "+initiator=2", "--series s.csv", "--interval 5", "+src=99", "-send=0- --of messages", "+nonminimal +src=3",
        "+send=100 +send=200", "+send=100,200 --csv -", "-send=-199 --csv -", "+send=101- --csv -", "+src=3-3,4 --json")]
    yield Case("parse wrong logs", [["parse", *words] for words in asked] +
               [["parse", name, "--of", unit] for name in ("twice.csv", "part.csv", "transactions.csv", "more.csv")
                for unit in ("messages", "transactions")], files)


# ---- by hand: what is seldom drawn -----------------------------------------------------------------------------------------------

NO_DATELINE = {"type": "dimension_order", "dateline": "none"}
STUCK = {  # packets of 12 flits fill short buffers in a circle
    "ring": ({"type": "torus", "widths": [8]}, NO_DATELINE), "mesh": ({"type": "mesh", "widths": [4, 4]}, "fully_adaptive"),
}
SHORT = {
    "input_queued": {"buffer_depth": 2}, "output_queued": {"buffer_depth": 2, "output_depth": 2},
    "input_output_queued": {"buffer_depth": 2, "output_depth": 2}, "packet": {"buffer_depth": 12},
    "packet chunks": {"buffer_depth": 4, "chunk": 64}, "simured": {"buffer_depth": 2}, "single_cycle": {"buffer_depth": 2},
}
WIDE = {  # more than 64 lanes at a router
    "switch": ({"type": "single_router", "terminals": 26}, "minimal", 5), "hyperx": ({"type": "hyperx", "widths": [4], "concentration": 9}, "minimal", 7),
}
ROUTERS = ("input_queued", "output_queued", "input_output_queued", "packet", "omnipath", "simured", "single_cycle")


def blast(**settings):
    return {"type": "blast", "load": 0.3, "warmup": 100, "sample": 300, "finish_limit": 20000, **settings}


def network_case(name, topology, routing, router, *applications, workload=None, network=None, commands=None, **more):
    config = {"simulator": {"seed": 5}, "network": {"topology": topology, "routing": routing, "router": router, **(network or {})},
              "workload": {"applications": list(applications), "check_interval": 100, **(workload or {})}}
    return Case(name, commands or [run_command("config.json")], {"config.json": json.dumps(config)}, **more)


def stuck_cases():
    for place, (topology, routing) in STUCK.items():
        for router, short in SHORT.items():
            settings = {"type": router.split()[0], "num_vcs": 1, **short}
            application = blast(load=0.9, size={"type": "fixed", "flits": 12}, warmup=500, sample=2000)
            yield network_case(f"stuck {place} {router}", topology, routing, settings, application, network={"deadlock_interval": 100})
        yield network_case(f"recovers {place}", topology, routing, {"type": "input_queued", "num_vcs": 1, "buffer_depth": 2},
                           blast(load=0.5, size={"type": "fixed", "flits": 12}), network={"deadlock_interval": 20, "deadlock": "recover"},
                           workload={"check_interval": 20})


def wide_cases():
    for place, (topology, routing, num_vcs) in WIDE.items():
        for router in ROUTERS:
            settings = {"type": router, "num_vcs": num_vcs}
            yield network_case(f"wide {place} {router}", topology, routing, settings, blast(load=0.6, size={"type": "uniform", "max": 4}, sample=100))


def omnipath_cases():
    """Central buffers that are smaller than others, a port too few for whole MPorts, channels that lead one way."""
    small = {"type": "omnipath", "num_vcs": 2, "queue_size": 20, "central_queue_size": 9, "exclusive_credits": 4, "max_credits": 6}
    for terminals in (5, 13):
        yield network_case(f"omnipath small {terminals}", {"type": "single_router", "terminals": terminals}, "minimal", small,
                           blast(load=0.9, size={"type": "uniform", "max": 16}))
    yield network_case("omnipath one way", {"type": "butterfly", "radix": 2, "stages": 3}, "destination_tag", small,
                       blast(load=0.6, size={"type": "uniform", "max": 8}))


def measured_cases():
    """Windows that find their own length, series, lists of terminals and channels; saturation; jobs that come and go."""
    mesh, router = {"type": "mesh", "widths": [4, 4]}, {"type": "input_queued", "num_vcs": 2}
    listed = {"per_terminal": True, "per_channel": True, "series_interval": 100}
    for load in (0.1, 0.35, 0.9):
        auto = {"type": "blast", "load": load, "precision": 0.05, "min_sample": 1000, "max_sample": 2000, "finish_limit": 500}
        yield network_case(f"measured auto {load}", mesh, "dimension_order", router, auto, workload=listed)
        yield network_case(f"measured auto {load} conservative", mesh, "dimension_order", router, auto, workload=listed,
                           commands=[run_command("config.json", *WAYS["conservative"])], row=f"measured auto {load}")
    yield network_case("measured replies", mesh, "dimension_order", router,
                       blast(reply={"type": "uniform", "max": 5}, messages_per_transaction=3, max_packet=2, size={"type": "uniform", "max": 7}),
                       {"type": "pulse", "load": 0.5, "messages": 30, "delay": 50}, workload=listed)
    yield network_case("measured unfinished", mesh, "dimension_order", router, blast(load=1, finish_limit=1), workload=listed)


def told_cases():
    """What conservative threads did: windows, what went between parts."""
    for place, (topology, latency) in {"mesh": ({"type": "mesh", "widths": [4, 4]}, 5), "torus": ({"type": "torus", "widths": [3, 4]}, 1)}.items():
        yield network_case(f"told {place}", topology, "dimension_order", {"type": "input_queued", "num_vcs": 2}, blast(),
                           network={"channel": {"latency": latency}}, commands=[run_command("config.json", "--sync", "conservative", "--threads", "3")],
                           keeps_sync=True)


def restart_cases():
    """From the second of some checkpoints."""
    first = ["--checkpoint-every", "100", "--checkpoint", "{tick}.checkpoint"]
    again = ["run", "--restart", "200.checkpoint", "--quiet", "--results", "results.json"]
    for way, words in {"": [], " conservative": WAYS["conservative"]}.items():
        yield network_case(f"restart{way}", {"type": "torus", "widths": [4, 4]}, "dimension_order", {"type": "input_queued", "num_vcs": 2}, blast(),
                           commands=[run_command("config.json", *words, *first, logs=False), again], row="restart")


def made_cases():
    return [*stuck_cases(), *wide_cases(), *omnipath_cases(), *measured_cases(), *told_cases(), *restart_cases()]


# ---- ranks -----------------------------------------------------------------------------------------------------------------------

RANKED = {"conservative": ["--sync", "conservative"], "optimistic": ["--sync", "optimistic", "simulator.window=40"]}


def on_ranks(case, ranks, way):
    """The same case by ranks: they give what one gives."""
    return Case(f"{case.name} {ranks} ranks {way}", [[*command, *RANKED[way]] for command in case.commands], case.files, case.row, ranks=ranks)


def rank_cases(program):
    """A few: a start by mpirun is dear, and few may run side by side."""
    if not has_ranks(program):
        return
    plain = [case for case in [*drawn_cases(), *measured_cases(), *stuck_cases()] if case.row == case.name]
    measured = [case for case in plain if case.name in ("measured auto 0.35", "measured replies", "measured unfinished", "stuck ring input_queued", "stuck mesh packet")]
    for number, case in enumerate([*plain[::20], *measured]):
        yield on_ranks(case, 2 + number % 2, list(RANKED)[number // 2 % 2])
    for number, case in enumerate(case for case in model_cases() if case.row == case.name and "told" not in case.name):
        for way in RANKED:
            if not ("no_lookahead" in case.name and way == "conservative"):
                yield on_ranks(case, 2 + number % 2, way)


# All option rows. It is no recorded case: a new component must not need a new record.
SCHEMA = Case("schema", [["schema"]])


def all_cases(program):
    return [*model_cases(), *drawn_cases(), *settings_cases(), *made_cases(), *log_cases(), *packed_log_cases(), *wrong_log_cases(),
            *example_cases(program), *rank_cases(program)]
