#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 3 of the Fit Fly paper: what Slim Fly networks of 1, 2, 4 and 8 rails, a plane of 338 routers for each, accept of what
they are offered. Loads are shares of the bandwidth of one link.

    examples/papers/fitfly/figure_3_rails.py           a CPU minute
    examples/papers/fitfly/figure_3_rails.py --full    ten loads, a window of 20 us: ten CPU minutes
"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "python"), str(Path(__file__).resolve().parent / "common")]
from flitwarp import Sweep  # noqa: E402
from flitwarp.reproduce import Row, reproduce  # noqa: E402
from networks import MICROSECOND, settings  # noqa: E402

RAILS = (1, 2, 4, 8)


def study(shares=(0.5, 1.0), window=8 * MICROSECOND, topology=None):
    """`shares` of what the rails carry together."""
    base = settings("Fit Fly")
    base["network"]["interface"]["feed_cycle"] = None
    base["network"]["topology"].update(topology or {})
    base["workload"]["applications"][0].update(warmup=window, sample=window)
    sweep = Sweep(base, "fitfly_rails", title="Slim Fly networks of several rails")
    sweep.add_variable("rails", "R", RAILS, lambda rails: {"network.planes.count": rails, "network.planes.rails": rails})
    sweep.add_loads(values=shares, past=0, name="share", short="L",
                    override=lambda share, others: {"load": share * others["rails"]})
    return sweep.add_figure("offered-accepted", lines="rails", x_label="offered load (links)", y_label="accepted load (links)")


def compare(study):
    curves = study.curves(lines="rails")
    one = curves[0]
    for rails, curve in zip(RAILS, curves):
        for point, reference in zip(curve.points, one.points):
            accepted = point.mean("accepted_load")
            yield Row(f"{rails} rails, {100 * rails * point.x:g} % offered: accepted, %", f"{100 * accepted:.1f}",
                      "" if rails == 1 else f"{100 * rails * reference.mean('accepted_load'):.1f}, of one rail times {rails}",
                      abs(accepted / (rails * reference.mean("accepted_load")) - 1) < 0.05)


if __name__ == "__main__":
    full = "--full" in sys.argv
    rest = [word for word in sys.argv[1:] if word != "--full"]
    chosen = study([i / 10 for i in range(1, 11)], 20 * MICROSECOND) if full else study()
    sys.exit(reproduce(chosen, compare, rest))
