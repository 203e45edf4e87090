# SPDX-License-Identifier: Apache-2.0
"""What runs gave when it was last written down: digest, events and a hash of all else that they say, of every example and
of small drawn configurations (drawn.jsonl). Results must not change unnoticed:

    ./dev digests             compares, in every way of running
    ./dev digests --record    writes recorded.csv again, where results have changed on purpose
    ./dev digests --draw      draws configurations for components that none has yet, and records

The hash is of the results without times and sizes in memory, of all logs and of standard error: what differs between two
machines or two ways of running is not in it. Needs nothing but Python and the program: ./dev mutate uses it too.
"""
import argparse
import csv
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import HERE, ROOT, all_cases
from support import OF_THE_RUN

RECORDED = HERE / "recorded.csv"
TIMES = ("events_per_second", "waiting_share")  # of what threads did
# ---- running ---------------------------------------------------------------------------------------------------------------------

def without(value, keys):
    """A document without what it has under some keys, however deep."""
    if isinstance(value, dict):
        return {key: without(one, keys) for key, one in value.items() if key not in keys}
    return [without(one, keys) for one in value] if isinstance(value, list) else value


def settled(text, keeps_sync=False):
    """Results as text without what no two runs share; other text as it is. What threads did is kept where it is the same each time."""
    try:
        document = json.loads(text)
    except ValueError:
        return re.sub(r"[0-9.]+ KiB a router, [0-9.]+ MiB in all|zstd says '[^']*'", "", text)
    unlike = {*OF_THE_RUN, *TIMES, "bytes_per_router", "flitwarp", "restarts"} - ({"sync"} if keeps_sync else set())
    if isinstance(document, dict):
        document = without(document, {"description"} if "$defs" in document else unlike)
        if "simulation" in document:
            document.pop("config", None)  # it lists settings that are new and have their default
            document.pop("data", None)  # of files that are given, not of what came out
    return json.dumps(document, sort_keys=True)


class Limits:
    """Of a command: CPU seconds, and seconds by the clock for those that wait for ever."""

    def __init__(self, cpu=60, wall=120, memory=None):
        self.cpu, self.wall, self.memory = cpu, wall, memory

    def set(self):
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu, self.cpu + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))


def outcome(program, case, limits=None, environment=None):
    """[status, digest, events, hash] of a case's commands; a status below zero: ended by a signal, or by the clock."""
    guard, limits = limits.set if limits else None, limits or Limits()
    status, digest, events, said = 0, "", "", []
    with tempfile.TemporaryDirectory(prefix="flitwarp-digest-") as folder:
        for name, text in case.files.items():
            (Path(folder) / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        for command in case.commands:
            words = [*case.launcher, str(program), *(word.replace("$ROOT", str(ROOT)) for word in command)]
            try:
                ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=limits.wall,
                                       check=False, preexec_fn=guard, env=environment)
            except subprocess.TimeoutExpired:
                return ["-99", "", "", "too long"]
            if ended.returncode < 0 or "broken invariant" in ended.stderr:  # it has crashed, or stopped itself
                return [str(ended.returncode), "", "", ended.stderr[-400:]]
            status = max(status, ended.returncode)
            complained = ended.stderr.partition("-----")[0] if case.launcher else ended.stderr  # a launcher tells of a status that is not 0
            said += [settled(ended.stdout), settled(complained.replace(folder, ".").replace(str(ROOT), "$ROOT"))]
        results = Path(folder) / "results.json"
        if results.exists() and results.name not in case.files:
            try:
                simulation = json.loads(results.read_text())["simulation"]
                digest, events = simulation.get("digest", ""), str(simulation["events"])
            except (ValueError, KeyError):
                return [str(status), "", "", "no results"]
        for path in sorted(Path(folder).iterdir()):
            if path.name not in case.files and path.suffix != ".checkpoint":
                said += [path.name, settled(path.read_text(), case.keeps_sync) if path.suffix in (".json", ".csv") else path.read_bytes().hex()]
    return [str(status), digest, events, hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]]


def is_hash(text):
    """Of results, not a word why there are none."""
    return re.fullmatch("[0-9a-f]{16}", text) is not None


def recorded():
    if not RECORDED.exists():
        return {}
    with open(RECORDED, newline="") as file:
        return {row[0]: row[1:] for row in list(csv.reader(file))[1:]}


def differences(program, cases):
    """What differs from what was recorded, a line each."""
    known = recorded()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: outcome(program, case), cases))
    for case, now in zip(cases, found):
        then = known.get(case.row)
        if then is None:
            yield f"{case.name}: not recorded yet: ./dev digests --record"
        elif then != now:
            words = [f"{what} {a} -> {b}" for what, a, b in zip(("status", "digest", "events", "results"), then, now) if a != b]
            yield f"{case.name}: {', '.join(words)}"


def record(program, cases):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        plain = [case for case in cases if case.row == case.name]
        found = list(pool.map(lambda case: outcome(program, case), plain))
    broken = [f"{case.name}: status {now[0]}, {now[3]}" for case, now in zip(plain, found) if not is_hash(now[3])]
    if broken:
        sys.exit("\n".join([*broken, "nothing is recorded: these have no results"]))
    with open(RECORDED, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "status", "digest", "events", "results"])
        writer.writerows([case.name, *now] for case, now in zip(plain, found))
    return len(plain)


def main():
    parser = argparse.ArgumentParser(prog="./dev digests", description=__doc__.split("\n\n")[0])
    parser.add_argument("--record", action="store_true", help="write down what runs give now")
    parser.add_argument("--draw", action="store_true", help="draw configurations for what has none yet, and record")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only cases whose name contains one of these")
    asked = parser.parse_args()
    program = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
    if asked.draw:
        import draw
        print(f"{draw.add_missing()} configurations drawn")
    cases = all_cases(program)
    if asked.record or asked.draw:
        print(f"{record(program, cases)} recorded in {RECORDED.relative_to(ROOT)}")
        cases = [case for case in cases if case.row != case.name]
    cases = [case for case in cases if not asked.words or any(word in case.name for word in asked.words)]
    found = list(differences(program, cases))
    print("\n".join([*found, f"{len(cases)} runs compared, {len(found)} differ"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
