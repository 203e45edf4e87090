#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a fat tree, a dragonfly and a Slim Fly still carry when 0 to 20 % of their links are dead: uniform traffic, as much as
goes in, ten draws of dead links each; and what the links, the mean distance and the bisection that are left allow at most.

    examples/studies/failures.py                    150 runs, three CPU minutes: a report, and out/failures/bounds.png
    examples/studies/failures.py --list             what it would run; options as those of flitwarp-sweep
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from flitwarp import Sweep, open_study  # noqa: E402
from flitwarp.binary import find_binary  # noqa: E402

MINIMAL = {"type": "minimal_adaptive", "mode": "port_average"}  # a VC class for each hop of the longest way that is left
SHARES, SEEDS = (0, 0.05, 0.1, 0.15, 0.2), 10
NETWORKS = {
    "fat tree": {"network.topology": {"type": "folded_clos", "radix": 8, "levels": 3}, "network.routing": "up_down"},
    "dragonfly": {"network.topology": {"type": "dragonfly", "terminals": 2, "routers": 4, "global": 2}, "network.routing": MINIMAL},
    "Slim Fly": {"network.topology": {"type": "slim_fly", "q": 5}, "network.routing": MINIMAL},
}


def study():
    sweep = Sweep(ROOT / "examples" / "failures.json", "failures", title="Throughput with dead links", overrides={
        "network.failures.links.seed": {"$ref": "/simulator/seed"}, "workload.applications.0.load": 1.0, "network.router.num_vcs": 12, "network.router.input_speedup": 2,
        "workload.applications.0.sample": 3000, "workload.applications.0.finish_limit": 1})
    sweep.add_variable("network", "N", NETWORKS, lambda settings: settings)
    sweep.add_loads(values=SHARES, past=0, name="dead links", short="F", override="network.failures.links.share")
    sweep.add_seeds(SEEDS)
    return sweep.add_figure("offered-accepted", lines="network", x_label="share of dead links", y_label="accepted load")


def bounds(network):
    """Of uniform traffic, for each share the mean over the draws."""
    base = json.loads("\n".join(line for line in (ROOT / "examples" / "failures.json").read_text().splitlines() if not line.startswith("//")))
    with tempfile.TemporaryDirectory() as folder:
        configs = []
        for share in SHARES:
            for seed in range(1, SEEDS + 1):
                base["network"].update(topology=NETWORKS[network]["network.topology"], routing="minimal")
                base["network"]["failures"]["links"] = {"share": share, "seed": seed}
                configs.append(Path(folder) / f"{share}_{seed}.json")
                configs[-1].write_text(json.dumps(base))
        told = json.loads(subprocess.run([find_binary(), "topology", "--json", *configs], capture_output=True, check=True).stdout)
    found = [each["uniform_throughput"]["at_most"] for each in told["networks"]]
    return [mean(found[i:i + SEEDS]) for i in range(0, len(found), SEEDS)]


def draw(path):
    """Measured, with the 95 % interval over the draws, and the bounds."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for curve, network, colour in zip(open_study(ROOT / "out" / "failures").curves(lines="network"), NETWORKS,
                                      ("#1f5fa8", "#c4532d", "#3b7d3b")):
        at = [100 * point.x for point in curve.points]
        measured = [point.mean("accepted_load") for point in curve.points]
        axes.errorbar(at, measured, [point.ci95("accepted_load") for point in curve.points], color=colour, marker="o", capsize=3,
                      label=network)
        limits = bounds(network)
        axes.plot(at, limits, "--", color=colour)
        for share, carried, limit in zip(at, measured, limits):
            print(f"{network:10s} {share:4.0f} %  carried {carried:.3f}  at most {limit:.3f}")
    axes.plot([], [], "--", color="#666666", label="at most")
    axes.set(xlabel="dead links, %", ylabel="accepted load, flits per terminal and cycle", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    status = study().main()
    if status == 0 and "--list" not in sys.argv and "--estimate" not in sys.argv:
        draw(ROOT / "out" / "failures" / "bounds.png")
    sys.exit(status)
