# SPDX-License-Identifier: Apache-2.0
"""AMG on 8, 27 and 64 ranks on four networks, by examples/papers/amg/four_networks.py: all of it replays, and its ranks send as
many bytes as the summaries inside the archives say. (Calls and bytes before a replay: tests/cli/test_dumpi.py.)"""
import os
import sys
import xml.dom.minidom

import pytest

from support import ROOT, SHARED, script

sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))
pytestmark = pytest.mark.skipif(not (SHARED / "traces").exists(), reason="the reference traces are not there")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    module, folder = script(ROOT / "examples" / "papers" / "amg" / "four_networks.py"), tmp_path_factory.mktemp("amg")
    module.DUMPI = SHARED / "traces" / "dumpi"
    files = module.traces(folder)
    sweep = module.study(files)
    sweep.out = folder
    return module, files, sweep.run(quiet=True)


def test_every_run_of_amg_comes_to_its_end_with_the_bytes_of_its_summary(ran):
    module, files, study = ran
    rows = list(module.compare(study, files))
    assert len(rows) == 3 * 4 and all(row.holds for row in rows)
    assert {run.results["applications"][0]["ranks"] for run in study.runs} == {8, 27, 64}
    assert {run.results["config"]["network"]["topology"]["type"] for run in study.runs} == set(module.NETWORKS)


def test_a_run_with_other_bytes_is_a_failure(ran, monkeypatch):
    module, files, study = ran
    monkeypatch.setattr(module, "expected_bytes", lambda file, ranks: 13_584_369)
    assert not any(row.holds for row in module.compare(study, files))


def test_who_sends_to_whom_is_drawn(ran, tmp_path):
    """A square for each pair of ranks: of 8 and 64 ranks 8 and 61.3 partners each on average (SUMMARY.md)."""
    module, files, _ = ran
    module.draw(files, tmp_path)
    for ranks, partners in ((8, 64), (64, 3924)):
        text = (tmp_path / f"amg_{ranks}.svg").read_text()
        xml.dom.minidom.parseString(text)
        assert text.count(f'width="{640 / ranks:.2f}"') == partners
