# SPDX-License-Identifier: Apache-2.0
"""SimuRed (fernanpardo/simured, cpp_src/Command): traces of packets that meet, and when each arrives.

Its program tells no packet's arrival, but with FINALSTATS 0 and more STATPOINTS than packets it prints a line for each cycle in which
packets arrive: the cycle, how many have arrived so far, and means of flits, latencies and ways of those of that cycle. All of them
must be ours. Its choices (virtual and ejection channels, dimensions) are drawn by rand() from the second in which it was started,
which is known when it has ended in the same second: ours draws the same from that seed.
"""
import csv
import json
import os
import subprocess
import time
from pathlib import Path

import compare
from programs import Failed, Refused, run

NAME, FILE, TOLERANCE = "simured", "simured.conf", 0
PROGRAM = os.environ.get("SIMURED", "simured_cmd")
TRACE = "packets.trc"
LIMIT_S, ATTEMPTS = 5, 20

# One simulation, a line of statistics for each cycle with arrivals.
ALWAYS = {"JUSTONE": "true", "SIMUVAR2": 0, "USETRACE": 1, "TRACENAME": TRACE, "FINALSTATS": 0, "STATPOINTS": 1000000}


def nodes_of(config):
    return config["settings"]["NODOSDIM"]**config["settings"]["DIMENSIONS"]


def write(config, _load, folder):
    settings = {**config["settings"], **ALWAYS}
    (Path(folder) / FILE).write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    (Path(folder) / TRACE).write_text("".join(" ".join(str(word) for word in line) + "\n" for line in config["packets"]))


def figures(folder):
    """{seed, arrivals: [cycle, packets, nodes on their ways, latency, head latency], each summed over the packets of a cycle}"""
    wanted = len((Path(folder) / TRACE).read_text().splitlines())
    command = f'exec "{Path(PROGRAM).resolve()}" < {FILE} 2> messages'
    for _ in range(ATTEMPTS):  # it opens the trace anew under its reading thread's feet: now and then it hangs, or lines are lost or read twice
        begun = int(time.time())
        try:
            _, said, cpu = run(["sh", "-c", command], folder, LIMIT_S)
        except Failed:
            continue
        messages = (Path(folder) / "messages").read_text(errors="replace")
        if "DEADLOCK" in messages:
            raise Refused("a deadlock")
        arrivals, waits = arrivals_in(said)
        if int(time.time()) == begun and f"Created  Packets: {wanted}\n" in messages and sum(one[1] for one in arrivals) == wanted:
            if not waits:
                raise Refused("no packets meet")
            return {"seed": begun % 2147483647, "arrivals": arrivals}, cpu
    raise Failed(f"no good end of simured in {ATTEMPTS} runs")


def arrivals_in(said):
    """And the cycles in which heads waited for others."""
    found, before, waits = [], 0, 0
    for line in said.splitlines():
        words = line.split(";")
        if len(words) == 12 and words[0].isdigit():
            cycle, received = int(words[1]), int(words[3])
            packets, before = received - before, received
            waits += float(words[10]) * packets
            found.append([cycle, packets, *(round(float(words[column]) * packets) for column in (11, 8, 6))])
    return found, waits


def our_arrivals(path, seed, folder, begin):
    """(the same of our run, its CPU seconds). A packet arrives at the end of a cycle; the other program counts from 1, which comes to the same. Ours waits
    some ticks before an application starts: the first packet is made in cycle `begin`."""
    log, results = Path(folder) / "packets.csv", Path(folder) / "results.json"
    ended = subprocess.run([compare.PROGRAM, "run", path, "--quiet", "--log", log, "--results", results,
                            f"simulator.seed={seed}"], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise Failed(f"ours: {ended.stderr.strip()}")
    sums = {}
    with open(log) as file:
        packets = [{key: int(value) for key, value in packet.items() if value.isdigit()} for packet in csv.DictReader(file)]
    start = min(packet["created"] for packet in packets) - begin
    for packet in packets:
        entered, head, tail = (packet[key] - start for key in ("injected", "head_arrived", "tail_arrived"))
        for place, value in enumerate((1, packet["hops"] + 1, tail - entered - 1, head - entered - 1)):
            sums.setdefault(tail, [0, 0, 0, 0])[place] += value
    return [[cycle, *sums[cycle]] for cycle in sorted(sums)], json.loads(results.read_text())["simulation"]["cpu_seconds"]


def compared(config, theirs, ours):
    found, their_cpu = theirs(0)
    arrivals, our_cpu = our_arrivals(ours.imported(0), found["seed"], ours.folder, config["packets"][0][0])
    same = sum(one in arrivals for one in found["arrivals"])
    cpus = (their_cpu, our_cpu)
    return [compare.row(0, "cycles with arrivals", len(found["arrivals"]), len(arrivals), True, cpus),
            compare.row(0, "of them alike", len(found["arrivals"]), same, True, cpus)]


# ---- drawing ---------------------------------------------------------------------------------------------------------------------

def draw(random):
    """Packets of a few flits to some hundreds from nodes that are close in time, so that most of them meet others."""
    dimensions, width = random.choice([(1, 8), (1, 5), (2, 4), (2, 4), (2, 5), (2, 8), (3, 3), (3, 4), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)])
    routing = random.choice([0, 0, 1, 2, 2, 3])
    vcs = random.choice([1, 1, 2, 2, 3, 4, 8, 16])
    injection = random.choice([1, 1, 2, 4])
    settings = {
        "DIMENSIONS": dimensions, "NODOSDIM": width, "ROUTING": routing, "NUMVIRT": vcs, "NUMVIRTINJ": injection,
        "NUMVIRTEJE": injection + random.choice([0, 0, 1, 3]),  # fewer than injection channels overrun an array of SimuRed's
        "LONBUFFER": random.choice([1, 2, 2, 2, 3, 4, 8, 16]), "FORWARDING": random.choice([1, 1, 0]),
        "PHYSICAL": random.choice(["false", "false", "true"]), "PACKLEN": random.choice([1, 4, 16, 32]),
        **{key: random.choice([1, 1, 1, 0, 2, 3]) for key in ("DELFIFO", "DELCROSS", "DELSWITCH", "DELCHANNEL")},
    }
    if routing == 1 and random.random() < 0.3:
        settings["NUMDIR"] = 1
    packets = draw_packets(random, width**dimensions, deadlocks=routing in (1, 3))
    # SimuRed draws a colour for a packet that waits for another when that arrives, amid the choices of others: ours does so a cycle later.
    if vcs == 1 and settings["NUMVIRTEJE"] == 1 and routing != 3:
        packets += draw_answers(random, width**dimensions, packets)
    return {"settings": settings, "packets": packets}


def draw_packets(random, nodes, deadlocks):
    """Lines of the trace in order of time; where routing may deadlock, fewer."""
    count = random.choice([3, 6, 10, 20] if deadlocks else [3, 6, 20, 60, 200])
    spread = random.choice([1, 10, 5 * count])
    hot = random.randrange(nodes) if random.random() < 0.3 else None
    lines = []
    for cycle in sorted(random.randrange(spread) for _ in range(count)):
        source = random.randrange(nodes)
        others = [node for node in range(nodes) if node != source]
        destination = hot if hot in others and random.random() < 0.7 else random.choice(others)
        lines.append([cycle, source, destination] + ([random.choice([1, 2, 3, 8, 20, 40])] if random.random() < 0.7 else []))
    return lines


def draw_answers(random, nodes, packets):
    """Packets that leave where others have arrived, when they have. Those get a name, and lose their length, which SimuRed would not read."""
    lines = []
    for name, line in enumerate(random.sample(packets, len(packets) // 4)):
        line[3:] = [f"p{name}"]
        for _ in range(random.choice([1, 1, 2])):
            destination = random.choice([node for node in range(nodes) if node != line[2]])
            lines.append([f"p{name}", line[2], destination] + ([random.choice([1, 2, 8, 30])] if random.random() < 0.5 else []))
    return lines
