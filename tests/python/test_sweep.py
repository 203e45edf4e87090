# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what is run, when lines stop, what is remembered, and that a killed sweep goes on as if it had not been."""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import flitwarp
import flitwarp.backend
from flitwarp import Sweep, open_study
from flitwarp.curve import Point
from flitwarp.lines import Line, Seeds
from flitwarp.results import Results
from flitwarp.store import Outcome
from flitwarp.variables import grid
from flitwarp.tasks import Task

SMALL = {"network": {"topology": {"type": "torus", "widths": [4, 4]}},
         "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 200, "sample": 1000, "finish_limit": 2000}]}}
VCS, LOAD = "network.router.num_vcs", "workload.applications.0.load"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(path):
    """All that a study's file holds but times and memory."""
    base = sqlite3.connect(path)
    outcomes = []
    for key, status, message, document in base.execute("select key, status, message, document from outcomes order by key"):
        document = json.loads(document)
        for name in ("cpu_seconds", "wall_seconds", "peak_rss_bytes"):
            del document["simulation"][name]
        outcomes.append((key, status, message, document))
    return outcomes, list(base.execute("select * from runs order by name")), list(base.execute("select * from facts"))


def test_what_a_sweep_would_run_is_told_with_its_settings(folder):
    sweep = Sweep(SMALL, "planned").add_variable("VCs", "V", [2, 4], VCS).add_loads(values=[0.1, 0.2]).add_seeds(2)
    found = [(values["VCs"], values["load"], seed) for values, seed, _ in sweep.planned()]
    assert sorted(found) == [(vcs, load, seed) for vcs in (2, 4) for load in (0.1, 0.2) for seed in (1, 2)]
    for values, seed, config in sweep.planned():
        assert config["network"]["router"]["num_vcs"] == values["VCs"] and config["simulator"]["seed"] == seed
        assert config["workload"]["applications"][0]["load"] == values["load"]
    assert not (folder / "out" / "planned" / "study.sqlite").exists()


@pytest.fixture
def counted(folder, monkeypatch):
    """A program that notes each run; the function tells how many there were for each results file."""
    wrapper = folder / "flitwarp"
    wrapper.write_text(f"#!/bin/sh\nif [ $1 = run ]; then for w; do last=$w; done; echo $last >> {folder}/ran; fi\n"
                       f"exec {os.environ['FLITWARP']} \"$@\"\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("FLITWARP", str(wrapper))

    def counts():
        lines = (folder / "ran").read_text().split() if (folder / "ran").exists() else []
        (folder / "ran").unlink(missing_ok=True)
        return {line: lines.count(line) for line in lines}

    return counts


# ---- plans, without a simulator: a network that saturates at a load ----


def measured(saturation, seeds=Seeds(), noise=lambda seed: 0.0, queueing=lambda x: 0.0):
    """A line over a pretended network, and the function that runs a plan of it."""
    asked, kept = [], []

    def task(x, seed):
        return Task(f"{x}/{seed}", ["true"], key=f"{x}/{seed}")

    def outcome(key):
        x, seed = key.split("/")
        asked.append(float(x))
        return Outcome(key, 0, document={"flitwarp": {"version": "0"}, "config": {}, "applications": [
            {"name": "a", "saturated": float(x) >= saturation,
             "packet_latency": {"mean": 20 + noise(int(seed)) + queueing(float(x)), "ci95": None}}]})

    def play(plan):
        need = next(plan)
        try:
            while True:
                need = plan.send([outcome(t.key) for t in need.tasks])
        except StopIteration:
            return asked

    return Line(task, seeds, lambda x, seed: kept.append((x, seed))), play, kept


def test_a_line_stops_after_as_many_saturated_points_as_asked_for():
    for past, expected in ((1, [0.1, 0.2, 0.3]), (2, [0.1, 0.2, 0.3, 0.4]), (0, [0.1, 0.2, 0.3, 0.4, 0.5])):
        line, play, _ = measured(0.25)
        assert play(line.rise([0.1, 0.2, 0.3, 0.4, 0.5], past)) == expected


def test_refining_halves_the_gap_below_saturation():
    line, play, _ = measured(0.28)
    assert play(line.rise([0.2, 0.4], 1, refine=3)) == [0.2, 0.4, 0.3, 0.25, 0.275]


def test_refining_goes_where_latency_bends():
    line, play, _ = measured(0.55, queueing=lambda x: 1e4 * max(x - 0.42, 0))  # flat up to 0.42, then steep
    assert play(line.rise([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1, refine=3))[6:] == [0.55, 0.525, 0.5375, 0.45, 0.425, 0.4125]


def made_up_curve(draw):
    """Latency above 20 at a load: of a queue, of a wall, with dents; up to hundreds of times the lowest."""
    saturation, knee, height = draw.uniform(0.15, 0.95), draw.uniform(0.02, 0.9), 10 ** draw.uniform(0, 4)
    kind = draw.choice(["queue", "wall", "dents"])
    dents = {round(draw.uniform(0, 1), 2): draw.uniform(0, 60) for _ in range(9)}

    def queueing(x):
        if kind == "queue":
            return min(height * x / max(saturation - x, 1e-9) / 100, 1e6)
        return height * max(x - knee * saturation, 0) + (dents.get(round(x, 2), 0) if kind == "dents" else 0)

    return saturation, queueing


@pytest.mark.parametrize("seed", range(100))
def test_refining_narrows_the_gap_at_saturation_and_fills_the_bend(seed):
    draw = random.Random(seed)
    saturation, queueing = made_up_curve(draw)
    step, refine = draw.choice([0.02, 0.05, 0.1]), draw.randint(0, 5)
    line, play, _ = measured(saturation, queueing=queueing)
    asked = play(line.rise(grid(step, 1.0, step), 1, refine))
    carried = sorted(x for x in asked if x < saturation)
    more = len(asked) - len([x for x in grid(step, 1.0, step) if x < saturation]) - 1
    assert min(x for x in asked if x >= saturation) - carried[-1] <= step / 2 ** refine * 1.01
    assert len(asked) == len(set(asked)) and refine <= more <= 2 * refine
    heights = [min(20 + queueing(x), 5 * (20 + queueing(carried[0]))) for x in carried]
    assert more == 2 * refine or max((abs(b - a) for a, b in zip(heights, heights[1:])), default=0) <= heights[0] / 2


@pytest.mark.parametrize("saturation", [0.003, 0.1, 0.5, 0.77, 0.999])
def test_the_search_finds_saturation_to_its_precision(saturation):
    line, play, _ = measured(saturation)
    asked = play(line.search(0.0, 1.0, 0.01))
    carried = max([x for x in asked if x < saturation], default=0)
    assert 0 < min(x for x in asked if x >= saturation) - carried <= 0.01
    assert len(asked) == 8  # 1 and log2(100) steps


def test_a_network_that_carries_everything_needs_one_point():
    line, play, _ = measured(2.0)
    assert play(line.search(0.0, 1.0, 0.01)) == [1.0]


def test_seeds_are_added_until_the_interval_is_narrow():
    seeds = Seeds(at_least=2, at_most=20, precision=0.02)
    line, play, kept = measured(1, seeds, noise=lambda seed: (-1) ** seed)
    play(line.rise([0.1]))
    # 20 +- 1: t * s / sqrt(n) below 0.4 takes about 26 values; it stops at the most allowed
    assert [seed for _, seed in kept] == list(range(1, 21))
    line, play, kept = measured(1, seeds, noise=lambda seed: 0.1 * (-1) ** seed)
    play(line.rise([0.1]))
    # Halves of the interval for 2, 3, ...: 1.27, 0.29 of 20: three are enough for 0.4
    assert [seed for _, seed in kept] == [1, 2, 3]


def test_half_of_the_seeds_saturated_is_saturated():
    runs = [Results({"flitwarp": {}, "applications": [{"name": "a", "saturated": s}]}) for s in (True, False)]
    assert Point(0.1, runs).saturated and not Point(0.1, runs + runs[1:]).saturated


@pytest.mark.parametrize("wrong", [dict(at_least=0), dict(at_least=3, at_most=2), dict(at_least=1, at_most=5, precision=0.1),
                                   dict(at_least=2, at_most=3, precision=0)])
def test_wrong_numbers_of_seeds_are_refused(wrong):
    with pytest.raises(ValueError, match="seeds"):
        Seeds(**wrong)


def test_a_grid_has_no_dust():
    assert grid(0.05, 0.3, 0.05) == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
    with pytest.raises(ValueError, match="step"):
        grid(0.1, 1, 0)


# ---- whole sweeps ----


def two_by_loads(**more):
    sweep = Sweep(SMALL, "vcs", **more)
    sweep.add_variable("VCs", "VC", [2, 4], VCS)
    return sweep.add_loads(0.2, 1.0, 0.2)


def test_a_sweep_runs_every_combination_up_to_saturation(folder):
    study = two_by_loads().run(quiet=True)
    assert study.path == Path("out/vcs/study.sqlite") and study.variables == {"VCs": [2, 4]} and study.x == "load"
    for vcs in (2, 4):
        curve, = study.curves(lines=[], where={"VCs": vcs})
        assert [p.x for p in curve.points] == grid(0.2, 1.0, 0.2)[: len(curve.points)]
        assert sum(p.saturated for p in curve.points) <= 1
        assert all(r["config"]["network"]["router"]["num_vcs"] == vcs for r in curve.runs())
    assert [c.label for c in study.curves()] == ["2 VCs", "4 VCs"]
    run = study.runs[0]
    assert run.name == "VC2_L0.2" and run.variables == {"VCs": 2, "load": 0.2}
    # The same run by hand, by the overrides that the study keeps
    path = folder / "base.json"
    path.write_text(json.dumps(SMALL))
    by_hand = flitwarp.run(path, dict(o.split("=", 1) for o in run.row.overrides))
    assert by_hand["simulation"]["digest"] == run.results["simulation"]["digest"]


def test_nothing_runs_again_until_settings_or_program_change(counted):
    two_by_loads().run(quiet=True)
    first = counted()
    assert set(first.values()) == {1}
    two_by_loads().run(quiet=True)
    assert counted() == {}
    two_by_loads(overrides={"workload.applications.0.sample": 1000}).run(quiet=True)  # what it was anyhow
    assert counted() == {}
    two_by_loads(overrides={"workload.applications.0.sample": 1100}).run(quiet=True)
    assert len(counted()) == len(first)
    program = Path(os.environ["FLITWARP"])
    program.write_text(program.read_text() + "# another program\n")
    two_by_loads().run(quiet=True)
    assert len(counted()) == len(first)


def test_the_content_of_a_data_file_counts(counted):
    matrix = Path("matrix.csv")
    config = json.loads(json.dumps(SMALL))
    config["workload"]["applications"][0]["traffic"] = {"type": "matrix", "file": str(matrix.absolute())}
    rows = [["1"] * 16 for _ in range(16)]
    matrix.write_text("\n".join(map(",".join, rows)))
    Sweep(config, "m").run(quiet=True)
    Sweep(config, "m").run(quiet=True)
    assert len(counted()) == 1
    rows[0][1] = "9"
    matrix.write_text("\n".join(map(",".join, rows)))
    Sweep(config, "m").run(quiet=True)
    assert len(counted()) == 1


def test_runs_that_left_the_sweep_leave_the_study_and_come_back_for_nothing(counted):
    two_by_loads().run(quiet=True)
    counted()
    fewer = Sweep(SMALL, "vcs").add_variable("VCs", "VC", [2], VCS).add_loads(0.2, 1.0, 0.2).run(quiet=True)
    assert {run.variables["VCs"] for run in fewer.runs} == {2}
    assert {run.variables["VCs"] for run in two_by_loads().run(quiet=True).runs} == {2, 4}
    assert counted() == {}


def test_overrides_come_from_paths_functions_and_labels(folder):
    sweep = Sweep(SMALL, "s", overrides={"seed": 7})
    sweep.add_variable("VCs", "V", [2, 4], lambda v: {VCS: v, "network.router.buffer_depth": 2 * v})
    sweep.add_variable("pattern", "P", {"UR": "uniform_random", "T": "tornado"}, "workload.applications.0.traffic")
    sweep.add_variable("latency", "CL", [1, 3], lambda latency, others: f"network.channel.latency=uint={latency + others['VCs']}")
    sweep.exclude(lambda v: v["VCs"] == 4 and v["pattern"] == "T")
    study = sweep.run(quiet=True)
    assert [run.name for run in study.runs] == ["V2_PUR_CL1", "V2_PUR_CL3", "V2_PT_CL1", "V2_PT_CL3", "V4_PUR_CL1", "V4_PUR_CL3"]
    config = study.runs[3].results["config"]
    assert config["network"]["router"]["buffer_depth"] == 4 and config["network"]["channel"]["latency"] == 5
    assert config["workload"]["applications"][0]["traffic"]["type"] == "tornado" and config["simulator"]["seed"] == 7
    assert study.select({"pattern": "T", "latency": [1, 3]}) == study.runs[2:4]


def test_seeds_are_replicas_of_a_point(folder):
    study = Sweep(SMALL, "s").add_loads(values=[0.2, 0.4]).add_seeds(3).run(quiet=True)
    curve, = study.curves()
    assert [len(p.runs) for p in curve.points] == [3, 3]
    assert [r["config"]["simulator"]["seed"] for r in curve.points[0].runs] == [1, 2, 3]
    values = curve.points[0].values("packet_latency.mean")
    assert len(set(values)) == 3 and 0 < curve.points[0].ci95("packet_latency.mean") < 2
    assert curve.points[0].mean("packet_latency.mean") == pytest.approx(sum(values) / 3)


def test_saturation_is_found_where_a_fine_sweep_finds_it(folder):
    torus = {"network": {"topology": {"type": "torus", "widths": [8, 8]}},
             "workload": {"applications": [{"type": "blast", "traffic": "tornado", "warmup": 1000, "sample": 4000,
                                            "finish_limit": 2000}]}}
    found = Sweep(torus, "search").find_saturation(0.02).run(quiet=True)
    row, = found.saturation()
    assert row["saturated"] - row["carried"] <= 0.02 and len(found.runs) <= 8
    swept = Sweep(torus, "sweep").add_loads(0.02, 1.0, 0.02).run(quiet=True).saturation()[0]
    assert abs(swept["saturated"] - row["saturated"]) <= 0.04


def test_a_failing_run_is_reported_and_the_rest_goes_on(folder):
    root = Path(flitwarp.__file__).resolve().parents[2]
    sweep = Sweep(root / "examples" / "deadlock_torus.json", "dead")
    sweep.add_variable("routing", "R", {"with": None, "without": "null"}, lambda v: {})
    sweep.add_variable("load", "L", [0.001, 0.9], "load")
    study = sweep.run(quiet=True)
    states = {run.name: run.state for run in study.runs}
    assert states["Rwith_L0.9"] == "deadlock"
    dead = next(run for run in study.runs if run.state == "deadlock")
    assert "deadlock" in dead.warnings()[0] and dead not in study.results()
    assert Sweep.main(sweep, ["--no-report", "--quiet"]) == 2


def test_settings_are_checked_before_anything_runs(folder):
    sweep = Sweep(SMALL, "s").add_variable("VCs", "VC", [2, 0], VCS).add_loads(0.1, 0.3, 0.1)
    with pytest.raises(flitwarp.WrongSettings, match=r"run VC0_L0.1 .*num_vcs.*0 is below 1"):
        sweep.run(quiet=True)
    assert not Path("out/s/study.sqlite").exists()


@pytest.mark.parametrize("define, message", [
    (lambda: Sweep(SMALL, "a/b"), "cannot name files"),
    (lambda: Sweep(SMALL, "s").add_variable("v", "V", [], VCS), "no values"),
    (lambda: Sweep(SMALL, "s").add_variable("v", "V", [1, 1], VCS), "twice"),
    (lambda: Sweep(SMALL, "s").add_variable("v", "V", [1], VCS).add_variable("w", "V", [1], VCS), "is taken"),
    (lambda: Sweep(SMALL, "s").add_loads(0.1), "start, stop and step"),
    (lambda: Sweep(SMALL, "s").find_saturation(0), "precision"),
    (lambda: Sweep(SMALL, "s").add_variable("seed", "X", [1, 2], "seed"), "add_seeds"),
    (lambda: Sweep(SMALL, "s").add_seeds(3, 20), "takes a precision"),
    (lambda: Sweep(SMALL, "s").add_variable("v", "V", [1], "vcs").run(quiet=True), "network.router.num_vcs"),
    (lambda: Sweep(SMALL, "s").run(backend="cloud", quiet=True), "accepted: local, slurm, queue"),
    (lambda: Sweep(SMALL, "s").add_figure("load-latncy").run(quiet=True), "did you mean load-latency"),
    (lambda: Sweep(SMALL, "s").add_variable("VCs", "V", [2], VCS).add_figure("load-latency", lines="VC").run(quiet=True),
     "no variable 'VC'; did you mean VCs"),
    (lambda: Sweep(SMALL, "s").add_figure("throughput").run(quiet=True), "name the variable along its axis"),
    (lambda: Sweep("gone.json", "s").run(quiet=True), "no configuration"),
])
def test_wrong_definitions_say_what_is_accepted(folder, define, message):
    with pytest.raises((ValueError, OSError), match=message):
        define()


def test_a_study_says_which_variables_it_has(folder):
    study = two_by_loads().run(quiet=True)
    with pytest.raises(ValueError, match="no variable 'VC'; did you mean VCs"):
        study.curves(lines="VC")


def test_rows_and_csv_hold_all_numbers(folder):
    study = two_by_loads().run(quiet=True)
    study.write_csv("rows.csv")
    head, *lines = Path("rows.csv").read_text().splitlines()
    columns = head.split(",")
    assert len(lines) == len(study.runs) and {"VCs", "load", "packet_latency.p99.9", "simulation.flit_hops"} <= set(columns)
    first = dict(zip(columns, lines[0].split(",")))
    assert float(first["packet_latency.mean"]) == study.runs[0].results.value("packet_latency.mean")


def test_packet_logs_are_kept_when_asked_for(counted):
    study = two_by_loads(logs=True).run(quiet=True)
    counted()
    log = Path("out/vcs/logs") / f"{study.runs[0].name}.csv.zst"
    parsed = json.loads(subprocess.run([os.environ["FLITWARP"], "parse", str(log), "--json"], capture_output=True, check=True,
                                       text=True).stdout)
    assert parsed["latency"]["mean"] == pytest.approx(study.runs[0].results.value("packet_latency.mean"))
    log.unlink()
    two_by_loads(logs=True).run(quiet=True)
    assert len(counted()) == 1 and log.exists()


def test_a_queue_runs_what_is_put_behind_its_command(folder):
    (folder / "qsub").write_text('#!/bin/sh\necho "$1 $2" >> asked\nshift 3\nexec "$@"\n')
    (folder / "qsub").chmod(0o755)
    place = {"type": "queue", "submit": [str(folder / "qsub"), "{cores}", "{name}", "{err}"], "at_most": 2}
    study = two_by_loads().run(quiet=True, backend=place)
    asked = (folder / "asked").read_text().splitlines()
    assert all(run.outcome.ok for run in study.runs) and len(asked) == len(study.runs)
    assert all(re.fullmatch("1 fw-[0-9a-f]{10}", line) for line in asked)
    with pytest.raises(ValueError, match="queue.*expected a list of words"):
        two_by_loads().run(quiet=True, backend={**place, "submit": "qsub -sync y"})


QUEUES = re.findall(r'"submit":\s*(\[.*\])\}\}', (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text())
# What the last word names is run elsewhere: qsub's shell reads a copy of it, bsub's takes the word for a line of a script.
FAKE_QUEUE = """#!/bin/sh
echo "$0 $*" >> {folder}/asked
for last; do :; done
cd /
case $0 in
*/qsub) cp "$last" {folder}/copy.$$; exec sh {folder}/copy.$$ ;;
*/bsub) exec sh -c "$last" ;;
esac
"""


@pytest.mark.parametrize("queue", range(3))
def test_templates_for_queues_run_a_study_whose_settings_a_shell_would_read_otherwise(folder, monkeypatch, queue):
    assert len(QUEUES) == 3
    for name in ("qsub", "bsub"):
        (folder / name).write_text(FAKE_QUEUE.format(folder=folder))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    sweep = Sweep(SMALL, "vcs", overrides={"network.topology.widths": [2, 3], "workload.applications.0.name": "a $HOME 'b' \"c\" *"})
    sweep.add_loads(values=[0.1])
    run, = sweep.run(quiet=True, backend={"type": "queue", "submit": json.loads(QUEUES[queue])}).runs
    assert run.outcome.ok and run.results["applications"][0]["name"] == "a $HOME 'b' \"c\" *"
    asked, = (folder / "asked").read_text().splitlines()
    assert re.search(r"\bfw-[0-9a-f]{10} ", asked) and "{" not in asked and asked.endswith(".sh")
    assert not Path("out/vcs/study.runs").exists()


def test_a_program_that_is_too_old_is_told(folder, monkeypatch):
    old = folder / "old"
    old.write_text("#!/bin/sh\necho \"flitwarp: unknown command '$1'\" >&2; exit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("FLITWARP", str(old))
    with pytest.raises(flitwarp.WrongSettings, match="is older than this package; ./dev build"):
        two_by_loads().run(quiet=True)


def test_the_estimate_looks_at_two_runs_and_keeps_nothing(counted):
    sweep = Sweep(SMALL, "s").add_loads(0.05, 0.4, 0.05)
    runs, seconds, is_least = sweep.estimate()
    assert runs == 8 and seconds > 0 and not is_least and len(counted()) == 2
    assert not sweep.path.exists()
    sweep.run(quiet=True)
    assert len(counted()) == 8
    assert sweep.estimate() == (8, 0.0, False) and not counted()  # nothing is left


def test_the_estimate_of_long_runs_is_by_what_they_say_when_interrupted(folder):
    def hours(**sampling):
        config = {**SMALL, "workload": {"applications": [{"type": "blast", **sampling}]}}
        return Sweep(config, "s").add_loads(values=[0.1]).estimate(cores_limit=1)

    runs, seconds, is_least = hours(warmup=100, sample=10**10)
    assert runs == 1 and seconds > 600 and not is_least
    assert hours(warmup=10**12)[2]  # with a sample as long as need be: nobody knows


def test_runs_with_names_alike_are_kept_apart(folder):
    sweep = Sweep(SMALL, "s").add_variable("mark", "M", {"<4": 2, ">4": 4, "x" * 300: 8}, VCS)
    sweep.add_loads(values=[0.1, 0.1 + 1e-9])
    study = sweep.run(quiet=True)
    assert len(study.runs) == 6 and len({run.name.lower() for run in study.runs}) == 6
    assert max(len(run.name) for run in study.runs) < 200


def test_different_experiments_are_not_taken_for_seeds(folder):
    study = two_by_loads().run(quiet=True)
    with pytest.raises(ValueError, match="the runs differ in VCs too"):
        study.curves(lines=[])
    with pytest.raises(ValueError, match="the runs differ in load too"):
        study.curves(x="VCs", lines=[])
    curve, = study.curves(x="VCs", where={"load": 0.2})
    assert [p.x for p in curve.points] == [2, 4]


def test_values_are_found_whatever_their_type(folder):
    study = two_by_loads().run(quiet=True)
    assert study.select({"VCs": 2.0}) == study.select({"VCs": "2"}) == study.select({"VCs": 2})
    with pytest.raises(ValueError, match="no value of VCs '3'; it has 2, 4"):
        study.select({"VCs": 3})


def test_whole_numbers_stay_whole_between_two(folder):
    sweep = Sweep(SMALL, "s", overrides={"load": 0.5})
    sweep.add_loads(values=[2, 9], name="latency", short="CL", override="network.channel.latency", past=1, refine=3)
    study = sweep.run(quiet=True)
    assert study.x == "latency" and all(isinstance(run.variables["latency"], int) for run in study.runs)


def test_a_base_that_changes_while_the_study_runs_ends_it(folder):
    base = folder / "base.json"
    base.write_text(json.dumps(SMALL))
    sweep = Sweep(base, "s").add_loads(0.1, 0.5, 0.1, past=0)
    changed = json.loads(json.dumps(SMALL))
    changed["network"]["router"] = {"type": "input_queued", "num_vcs": 8}

    class Meddling(flitwarp.backend.Local):
        def wait(self, timeout):
            base.write_text(json.dumps(changed))
            return super().wait(timeout)

    with pytest.raises(flitwarp.Stopped, match="its settings changed while the study ran"):
        sweep.run(quiet=True, backend=Meddling(Path("out/s/study.runs").absolute(), 1))
    assert all(run.results["config"]["network"]["router"]["num_vcs"] == 2 for run in open_study("out/s").runs)


def test_a_second_runner_leaves_the_first_one_s_base_alone(folder):
    two_by_loads().run(quiet=True)
    before = Path("out/vcs/base.json").read_text()
    from flitwarp.store import Store
    with Store("out/vcs/study.sqlite", write=True), pytest.raises(flitwarp.StudyError, match="in use"):
        Sweep({**SMALL, "simulator": {"seed": 9}}, "vcs").add_loads(0.1, 0.2, 0.1).run(quiet=True)
    assert Path("out/vcs/base.json").read_text() == before


def test_a_lost_run_is_no_saturation():
    line, play, _ = measured(0.9)
    lost = Outcome("0.2/1", 137, "killed")
    plan = line.rise([0.1, 0.2, 0.3, 0.4], past=1, refine=2)
    asked, need = [], next(plan)
    try:
        while True:
            asked += [t.key for t in need.tasks]
            need = plan.send([lost if t.key == "0.2/1" else Outcome(t.key, 0, document={
                "flitwarp": {}, "config": {}, "applications": [{"name": "a", "saturated": False}]}) for t in need.tasks])
    except StopIteration:
        assert asked == ["0.1/1", "0.2/1", "0.3/1", "0.4/1"]


def test_run_does_as_the_study_says_where_its_caller_does_not(folder, monkeypatch):
    """What a study's file has under "runner" holds for run() too, not for the command line alone."""
    made = []

    class Noted(flitwarp.backend.Local):
        def __init__(self, spool, cores=None, memory=None):
            made.append((cores, memory))
            super().__init__(spool, cores, memory)

    monkeypatch.setattr("flitwarp.sweep.Local", Noted)
    sweep = Sweep(SMALL, "s").add_loads(0.1, 0.2, 0.1)
    sweep.run(quiet=True)
    sweep.runner.update(cores_limit=1, memory_limit=2 ** 30)
    sweep.run(quiet=True)
    sweep.run(quiet=True, cores_limit=2)
    assert made == [(None, None), (1, 2 ** 30), (2, 2 ** 30)]


def test_orphans_that_nobody_needs_do_not_end_a_sweep(folder):
    spool = Path("out/s/study.runs").absolute()
    spool.mkdir(parents=True)
    pid = os.fork()
    if pid == 0:  # a runner of another form of the study is killed
        from flitwarp.backend import Job, Local
        local = Local(spool, 2)
        local.start([Job(f"{i:032x}", "old", ("sleep", "30")) for i in range(2)])
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    begin = time.monotonic()
    assert len(Sweep(SMALL, "s").add_loads(0.1, 0.3, 0.1).run(quiet=True, cores_limit=2).runs) == 3
    assert time.monotonic() - begin < 20


def test_odd_folders_are_fine(folder):
    sweep = Sweep(SMALL, "s", out="odd#dir/x?y %41").add_loads(0.1, 0.2, 0.1)
    assert len(sweep.run(quiet=True).runs) == 2 and not Path("odd").exists()


# ---- killed sweeps ----

KILLED = """
import sys
from flitwarp import Sweep
from tests_sweep_definition import define
define(Sweep, sys.argv[1]).run(quiet=True, cores_limit=2)
"""
DEFINITIONS = {
    # 200 runs, all of them needed
    "grid": """
def define(Sweep, out):
    sweep = Sweep(BASE, "killed", out=out)
    sweep.add_variable("VCs", "VC", [2, 3, 4, 6, 8], "network.router.num_vcs")
    sweep.add_loads(0.02, 0.4, 0.02, past=0)
    return sweep.add_seeds(2)
""",
    # adaptive: which runs there are depends on results
    "adaptive": """
def define(Sweep, out):
    sweep = Sweep(BASE, "killed", out=out)
    sweep.add_variable("VCs", "VC", [2, 4, 8], "network.router.num_vcs")
    sweep.add_variable("traffic", "T", ["uniform_random", "tornado"], "workload.applications.0.traffic")
    sweep.add_loads(0.05, 1.0, 0.05, past=2, refine=3)
    return sweep.add_seeds(2, 4, precision=0.02)
""",
}


def start(folder, out):
    (folder / "killed.py").write_text(KILLED)
    return subprocess.Popen([sys.executable, "killed.py", out], cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(
        [os.environ["PYTHONPATH"], str(folder)])})


def outcomes_in(path):
    try:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("select count(*) from outcomes").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_killed_sweep_goes_on_and_ends_with_the_same_content(kind, counted, folder):
    base = json.loads(json.dumps(SMALL))
    base["network"]["topology"]["widths"] = [6, 6]  # some ten milliseconds a run
    (folder / "tests_sweep_definition.py").write_text(f"BASE = {base!r}\n" + DEFINITIONS[kind])
    assert start(folder, "whole").wait(300) == 0
    whole = counted()
    total = len(open_study("whole").runs)
    assert total >= 200 if kind == "grid" else total > 100
    for done in (total // 4, total // 2, total * 3 // 4):
        runner = start(folder, "killed")
        while outcomes_in(folder / "killed" / "study.sqlite") < done and runner.poll() is None:
            time.sleep(0.005)
        runner.send_signal(signal.SIGKILL)
        assert runner.wait() == -9, "it should have been in the middle"
        assert outcomes_in(folder / "killed" / "study.sqlite") < len(whole)
    assert start(folder, "killed").wait(300) == 0
    again = counted()
    outcomes, runs, facts = content("killed/study.sqlite")
    assert (outcomes, runs, facts) == content("whole/study.sqlite")
    assert len(outcomes) == total
    if kind == "grid":  # nothing is run in vain, so each runs once
        assert len(again) == total and set(again.values()) == {1}
    assert not (folder / "killed" / "study.runs").exists()
