# SPDX-License-Identifier: Apache-2.0
"""The report as a file: what is in it, what is not, and that it is always the same."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib")

from flitwarp import Sweep, figures, report
from flitwarp.report import write_report
from flitwarp.report.data import histogram, short
from flitwarp.report.page import _values, page
from flitwarp.report.plan import choose, plan, specs_of
from made_study import damage, make_study

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "</script><script>window.hacked=1</script>"
VOID = {"meta", "br", "img", "input", "rect"}
TWO = [{"kind": "load-latency", "lines": ["VCs"], "where": {}, "options": {}}]


class Page(HTMLParser):
    """What a page consists of; complains about elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.open, self.blocks, self.attributes = [], [], [], [], {}, set()
        self._block = None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.attributes.update(attrs)
        self.links += [attrs[key] for key in ("src", "href", "action", "data", "srcset", "poster", "xlink:href") if attrs.get(key)]
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "script":
            self._block = attrs.get("id", "script")
            self.blocks[self._block] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self._block = None

    def handle_data(self, text):
        if self._block:
            self.blocks[self._block] += text


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report with a hostile variable and failures; its folder, page and data."""
    folder = tmp_path_factory.mktemp("report")
    study = make_study(folder / "study.sqlite", {"VCs": [2, 4], HOSTILE: ["a", HOSTILE, "b&'\""]}, seeds=(1, 2), figures=TWO,
                       title=f"study {HOSTILE}")
    names = [run.name for run in study.runs]
    study = damage(study.path, dict(zip(names, ("deadlock", "failed", "not run", "missing"))))
    files = write_report(study, folder)
    text = (folder / "report.html").read_text()
    parsed = Page(text)
    return {"folder": folder, "study": study, "files": files, "text": text, "page": parsed,
            "data": json.loads(parsed.blocks["data"])}


def test_the_page_parses_and_its_ids_are_unique(made):
    ids = made["page"].ids
    assert len(ids) == len(set(ids))
    assert {"saturation", "figures", "runs", "warnings", "configuration", "files"} <= set(ids)


def test_the_page_refers_to_nothing_outside(made):
    for link in made["page"].links:
        assert not re.match(r"[a-z]+:|//", link, re.I), link
        assert link.startswith("#") or (made["folder"] / link.replace("%20", " ")).exists() or link == "results.csv", link
    urls = set(re.findall(r"https?://[^\s\"'<>\\)]+", made["text"]))
    assert urls <= {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert "@import" not in made["text"] and "url(" not in made["text"]


def test_the_policy_allows_no_more_than_the_page_itself(made):
    policy = next(a["content"] for tag, a in made["page"].tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and "*" not in policy
    assert not {a for a in made["page"].attributes if a.startswith("on") or a == "style"}
    assert "eval(" not in made["text"] and "innerHTML" not in made["text"]


def test_every_run_is_there(made):
    assert [run["name"] for run in made["data"]["runs"]] == [run.name for run in made["study"].runs]
    first = made["data"]["runs"][5]
    assert len(first["numbers"]) == len(made["data"]["columns"])
    assert first["numbers"][made["data"]["columns"].index("0.packets")] == 461
    assert first["overrides"] == made["study"].runs[5].row.overrides[1:]  # without those of all runs


def test_every_figure_is_there_in_three_formats(made):
    figures = made["data"]["figures"]
    assert len(figures) == 3  # one for each value of the other variable
    for number, figure in enumerate(figures):
        assert figure["error"] == "" and f"picture-{number}" in made["page"].ids
        assert sorted(figure["files"]) == ["pdf", "png", "svg"]
        assert all((made["folder"] / path).stat().st_size > 500 for path in figure["files"].values())
    assert all(path.exists() for path in made["files"]) and len(made["files"]) == 3 + 9
    assert not list(made["folder"].rglob(".*"))  # nothing half written


def test_hostile_names_stay_text(made):
    assert HOSTILE not in made["text"]
    assert made["data"]["variables"][1]["name"] == HOSTILE
    scripts = [a for tag, a in made["page"].tags if tag == "script"]
    assert len(scripts) == 2 + 3 and sum("type" not in a for a in scripts) == 1
    assert "<b>none" not in made["text"]


def test_failures_and_warnings_are_listed_with_links(made):
    states = [run["state"] for run in made["data"]["runs"][:4]]
    assert states == ["deadlock", "input or output failed", "not run", "results are missing"]
    linked = {link for link in made["page"].links if link.startswith("#run=")}
    assert {f"#run={run.name}" for run in made["study"].runs[:4]} <= linked
    for warning in ("deadlock", "input or output failed", "not run", "results are missing", "saturated"):
        assert f"<b>{warning}</b>" in made["text"]
    assert "no space left on device" in made["text"]
    assert "3 failed" in made["text"] and "1 not run yet" in made["text"]


def test_configuration_has_the_base_and_what_differs(made):
    assert "// a base\n{}" in made["text"]
    paths = [setting["path"] for setting in made["data"]["settings"]]
    assert "network.router.num_vcs" in paths and "simulator.seed" in paths and "simulator.tick" not in paths


def test_the_same_study_gives_the_same_bytes(made, tmp_path):
    write_report(made["study"], tmp_path / "b")
    base = made["folder"]
    for path in sorted(p for p in (tmp_path / "b").rglob("*") if p.is_file()):
        other = base / path.relative_to(tmp_path / "b")
        if path.name == "report.html":  # the study lies elsewhere, seen from there
            assert len(path.read_text()) == pytest.approx(len(other.read_text()), abs=500)
            continue
        assert path.read_bytes() == other.read_bytes(), path.name
    again = write_report(made["study"], base)
    assert (base / "report.html").read_text() == made["text"] and again == made["files"]


def test_a_study_without_variables_has_one_figure(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {})
    write_report(study, tmp_path)
    data = json.loads(Page((tmp_path / "report.html").read_text()).blocks["data"])
    assert [figure["error"] for figure in data["figures"]] == [""]
    assert [variable["name"] for variable in data["variables"]] == ["load"]


@pytest.mark.parametrize("x", ["load", None])
def test_a_study_without_any_result_has_a_page(tmp_path, x):
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]}, loads=(0.1,), x=x)
    study = damage(study.path, {run.name: "not run" for run in study.runs})
    write_report(study, tmp_path)
    text = (tmp_path / "report.html").read_text()
    Page(text)
    assert "2 not run yet" in text and "<b>not drawn</b>" in text


def test_a_study_without_runs_has_a_page(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {}, loads=())
    assert len(write_report(study, tmp_path)) == 2
    Page((tmp_path / "report.html").read_text())


def test_a_figure_that_cannot_be_drawn_says_why(tmp_path):
    figures = [{"kind": "pie", "lines": None, "where": {}, "options": {}},
               {"kind": "load-latency", "lines": ["depth"], "where": {}, "options": {}}]
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]}, figures=figures)
    write_report(study, tmp_path)
    text = (tmp_path / "report.html").read_text()
    errors = [figure["error"] for figure in json.loads(Page(text).blocks["data"])["figures"]]
    assert "no figures of the kind 'pie'" in errors[0] and "no variable 'depth'" in errors[-1]
    assert "<b>not drawn</b>" in text


def test_figures_are_planned_for_every_combination_that_is_not_drawn(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4], "traffic": ["a", "b"], "depth": [8]})
    assert [(s.kind, s.lines) for s in specs_of(study)] == [
        ("load-latency", ("VCs",)), ("load-latency", ("traffic",)), ("offered-accepted", ("VCs",)), ("offered-accepted", ("traffic",))]
    assert [f.at for f in plan(study)[:2]] == [{"traffic": "a", "depth": 8}, {"traffic": "b", "depth": 8}]
    study.facts["figures"] = [{"kind": "latency_cdf", "lines": ["VCs"], "where": {"traffic": "a"}, "options": {}},
                              {"kind": "time_series", "lines": None, "where": {"load": 0.1, "VCs": [2]}, "options": {}}]
    planned = plan(study)
    assert [f.at for f in planned[:4]] == [{"depth": 8, "load": load} for load in (0.1, 0.2, 0.3, 0.4)]
    assert [f.at for f in planned[4:]] == [{"VCs": 2, "traffic": t, "depth": 8} for t in ("a", "b")]
    stems = [f.stem for f in planned]
    assert len(set(stems)) == len(stems) and all(re.fullmatch(r"[\w.+-]+", stem) for stem in stems)


def test_figures_are_drawn_on_demand(tmp_path, monkeypatch):
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4], "traffic": ["a", "b"]})
    names = [figure.stem for figure in plan(study)]
    drew = []
    monkeypatch.setattr(figures, "save", lambda made, stem, save=figures.save: drew.append(Path(stem).name) or save(made, stem))
    files = write_report(study, tmp_path, [])
    assert not drew and (tmp_path / "report.html") in files and not (tmp_path / "figures").exists()
    write_report(study, tmp_path, [names[0]])
    write_report(study, tmp_path, ["offered-accepted_*VCs-4"])
    assert drew == [names[0], "offered-accepted_by_traffic_VCs-4"]
    page = Page((tmp_path / "report.html").read_text())
    assert [figure["caption"] for figure in json.loads(page.blocks["data"])["figures"]] == ["Accepted over offered load, by traffic: VCs 4"]
    with pytest.raises(ValueError, match=f"there is none of the name 'latency'; accepted: all, none, {names[0]}, "):
        write_report(study, tmp_path, ["latency"])
    assert [figure.stem for figure in choose(plan(study), ["load-latency"])] == [name for name in names if name.startswith("load-latency")]


def test_two_thousand_runs_stay_below_ten_megabytes(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {"VCs": list(range(20))}, loads=[i / 50 for i in range(1, 51)], seeds=(1, 2))
    assert len(study.runs) == 2000
    assert len(page(study, [], tmp_path)) < 5e6


def test_a_running_study_says_so(tmp_path):
    from flitwarp.store import Store
    study = make_study(tmp_path / "study.sqlite", {}, loads=(0.1,))
    said = "still running"
    assert said not in page(study, [], tmp_path)
    with Store(study.path, write=True):
        assert said in page(study, [], tmp_path)


def test_histograms_keep_every_packet():
    rows = [[9, 9, 40], [10, 10, 90], [300, 303, 1000], [1000, 1007, 1]]
    low, width, beyond, *counts = histogram(rows)
    assert (low, beyond + sum(counts)) == (9, 1131) and len(counts) <= 48
    assert histogram([]) == []


def test_numbers_are_short():
    assert [short(v) for v in (0.1 + 0.2, 5.0, float("nan"), None, "x", True, 12345678)] == [0.3, 5, None, None, "x", True, 12345678]


def test_templates_lie_beside_the_code():
    folder = Path(report.__file__).parent
    assert all((folder / name).exists() for name in ("page.html", "page.css", "page.js"))


def test_jobs_have_their_times_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep = Sweep(ROOT / "examples" / "many_jobs.json", "who")
    sweep.add_pairs().add_seeds(2)
    study = sweep.run(quiet=True)
    assert [name for name in study.rows()[2]][3:8] == ["transpose.completion_seconds", "transpose.slowdown",
                                                       "background.offered_load", "background.accepted_load", "background.saturated"]
    found = {(tuple(values.values()), job): point.mean("slowdown", job) for values, job, point in study.jobs()}
    figure = figures.interference(study.results())
    drawn = {tuple(map(round, text.get_position())): text.get_text() for text in figure.axes[0].texts}
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()], [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == (["transpose", "barrier", "background"], ["transpose", "barrier"])
    assert drawn[2, 0] == f"{found[('transpose + background',), 'transpose']:.2f}" and (0, 0) not in drawn
    bars = figures.jobs(study.results()).axes[0]
    assert sorted(round(bar.get_height(), 6) for bar in bars.patches) == sorted(round(value, 6) for value in found.values())
    text = page(study, [], tmp_path)
    assert "<h2 id=jobs-title>Jobs</h2>" in text and "slowdown" in text
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    place = data["columns"].index(f"{data['applications'].index('barrier')}.completion_time")
    assert [run["numbers"][place] is not None for run in data["runs"]] == [True, True, False, False, True, True]


def test_values_are_counted_by_their_size():
    shown = _values([f"{0.02 * i:g}" for i in range(20, 0, -1)] + ["0.72"], [1] * 21)
    assert shown.endswith("and 9 more, up to 0.72</span>") and shown.index(">0.02 ") < shown.index(">0.04 ")
    assert _values([f"net {i}" for i in range(20)], [1] * 20).endswith("and 8 more</span>")
