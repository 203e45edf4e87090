#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what opensm does on simulated InfiniBand fabrics, for tests/cli/test_fabrics.py, which needs none of this.

    tests/fabrics/record.py [FABRIC ...]      needs opensm, ibsim, ibnetdiscover and dump_fts (Debian: opensm, ibsim-utils,
                                              infiniband-diags)

Writes FABRIC.topology.gz, what ibnetdiscover prints, and FABRIC.ENGINE.lfts.gz for each engine: forwarding tables in one of the
three forms that there are; of engines that break circles by virtual lanes FABRIC.ENGINE.paths.gz too, the path records of all pairs.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRAPPER = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"
ROOT_GUID = "0x0000000000200000"  # ibsim's first switch


def torus(width, cut=()):
    """A switch with an adapter at every place; `cut` are cables (x, y, dimension) that are not there, upwards from a switch."""
    def cable(x, y, dimension):
        return (x % width, y % width, dimension) not in cut

    for x in range(width):
        for y in range(width):
            peers = [(2, (x + 1, y), 3, cable(x, y, 0)), (3, (x - 1, y), 2, cable(x - 1, y, 0)),
                     (4, (x, y + 1), 5, cable(x, y, 1)), (5, (x, y - 1), 4, cable(x, y - 1, 1))]
            yield f'Switch 8 "S{x}{y}"'
            yield f'[1] "H{x}{y}"[1]'
            yield from (f'[{port}] "S{at[0] % width}{at[1] % width}"[{back}]' for port, at, back, is_there in peers if is_there)
            yield ""
    for x in range(width):
        for y in range(width):
            yield f'Hca 1 "H{x}{y}"\n[1] "S{x}{y}"[1]\n'


def fat_tree(half, cut=()):
    """Three levels of switches with 2 * half ports; `cut` are pairs of switches whose cable is not there."""
    cables = {}

    def join(a, port_a, b, port_b):
        if (a, b) not in cut:
            cables.setdefault(a, []).append(f'[{port_a}] "{b}"[{port_b}]')
            cables.setdefault(b, []).append(f'[{port_b}] "{a}"[{port_a}]')

    for pod in range(2 * half):
        for i in range(half):
            for j in range(half):
                join(f"E{pod}{i}", 1 + j, f"H{pod}{i}{j}", 1)
                join(f"E{pod}{i}", half + 1 + j, f"A{pod}{j}", 1 + i)
                join(f"A{pod}{i}", half + 1 + j, f"C{i}{j}", 1 + pod)
    for name in sorted(cables, key=lambda name: ("CAEH".index(name[0]), name)):
        yield f'Hca 1 "{name}"' if name[0] == "H" else f'Switch {2 * half} "{name}"'
        yield from cables[name]
        yield ""


# Engines, with what each needs, and the form in which its tables are kept: dump_fts, opensm-lfts.dump or opensm.fdbs.
LANES = ("lash", "dfsssp")
TORUS = {"minhop": "dump_fts", "dor": "opensm.fdbs", "updn": "opensm-lfts.dump"}
TREE = {"minhop": "opensm-lfts.dump", "updn": "dump_fts", "ftree": "opensm.fdbs"}
FABRICS = {
    "torus": (lambda: torus(4), TORUS | {engine: "dump_fts" for engine in LANES}),
    "torus_cut": (lambda: torus(4, {(0, 0, 0), (1, 2, 1), (2, 2, 0)}), TORUS),
    "tree": (lambda: fat_tree(2), TREE),
    "tree_cut": (lambda: fat_tree(2, {("E00", "A00"), ("A10", "C00"), ("A21", "C11")}),
                 {"minhop": "opensm-lfts.dump", "updn": "dump_fts"}),  # to ftree this is no fat tree
    "tree_thin": (lambda: fat_tree(2, {(f"A{pod}{i}", f"C{i}1") for pod in range(4) for i in range(2)}), {"ftree": "dump_fts"}),
}


def environment(folder):
    return {**os.environ, "LD_PRELOAD": WRAPPER, "OSM_TMP_DIR": str(folder), "OSM_CACHE_DIR": str(folder), "IBSIM_SOCKNAME": folder.name}


def simulated(command, folder):
    return subprocess.run(command, env=environment(folder), cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def keep(name, text):
    with open(HERE / name, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(text.encode())


def opensm(engine, folder, *more):
    command = ["opensm", "-e", "-R", engine, "-f", "log", "-D", "0x43", "--dump_files_dir", ".", *more]
    return subprocess.Popen(command, cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def path_records(found, folder):
    """One for each pair, by a question each: what saquery -p prints of all at once does not fit the simulator's messages."""
    lids = re.findall(r"^\[1\]\(\w+\).*# lid (\d+)", found, re.M)
    return "".join(simulated(["saquery", "-p", "--slid", source, "--dlid", to], folder).stdout
                   for source in lids for to in lids if source != to)


def record(name, engine, form, net):
    with tempfile.TemporaryDirectory(prefix="fabric") as place:
        folder, paths = Path(place), None
        (folder / "net").write_text("\n".join(net) + "\n")
        (folder / "roots").write_text(ROOT_GUID + "\n")
        roots = ["-a", "roots"] if engine == "updn" and name.startswith("torus") else []
        with subprocess.Popen(["ibsim", "-s", "net"], cwd=folder, env={**os.environ, "IBSIM_SOCKNAME": folder.name},
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as simulator:
            time.sleep(1)
            manager = opensm(engine, folder, *roots)
            try:
                time.sleep(3)
                found = simulated(["ibnetdiscover"], folder).stdout
                tables = simulated(["dump_fts"], folder).stdout if form == "dump_fts" else (folder / form).read_text()
                paths = path_records(found, folder) if engine in LANES else None
                manager.terminate()
                manager.wait()
                assert f"{engine} tables configured on all switches" in (folder / "log").read_text(), f"{name}: {engine} gave up"
            finally:
                manager.kill()
                manager.wait()
                simulator.kill()
    found = re.sub("generated on .*", "generated", found)
    kept = HERE / f"{name}.topology.gz"
    if not kept.exists():
        keep(kept.name, found)
    else:  # names, lids and cables do not depend on the engine; the order in which they were found may
        with gzip.open(kept, "rt") as file:
            assert sorted(file.read().splitlines()) == sorted(found.splitlines()), f"{name} {engine}: other lids"
    keep(f"{name}.{engine}.lfts.gz", tables)
    if paths:
        keep(f"{name}.{engine}.paths.gz", paths)
    print(f"{name} {engine}: {len(tables.splitlines())} lines of {form}")


def main():
    missing = [tool for tool in ("opensm", "ibsim", "ibnetdiscover", "dump_fts", "saquery") if not shutil.which(tool)]
    if missing:
        sys.exit(f"record.py: {', '.join(missing)} not found")
    for name in sys.argv[1:] or FABRICS:
        net, engines = FABRICS[name]
        (HERE / f"{name}.topology.gz").unlink(missing_ok=True)
        for engine, form in engines.items():
            record(name, engine, form, net())


if __name__ == "__main__":
    main()
