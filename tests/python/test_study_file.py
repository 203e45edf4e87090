# SPDX-License-Identifier: Apache-2.0
"""A study's file between its writers and readers, and runs that left no results."""

import pytest

from flitwarp.store import Store, writer_of
from flitwarp.study import open_study
from made_study import damage, make_study


def test_a_study_is_one_file_once_its_writer_has_left(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {}, loads=(0.1,))
    assert [path.name for path in tmp_path.iterdir()] == ["study.sqlite"]
    assert study.path.read_bytes()[18:20] == b"\x01\x01"  # no write-ahead log: it opens in folders that cannot be written


def test_readers_and_a_writer_share_a_study(tmp_path):
    path = make_study(tmp_path / "study.sqlite", {}, loads=(0.1, 0.2)).path
    reader = Store(path)
    with Store(path, write=True) as store:
        store.forget_failures()
        assert writer_of(path) and len(open_study(path).runs) == 2
    assert writer_of(path) is None and len(reader.runs()) == 2
    reader.close()


@pytest.mark.parametrize("how, state", [("missing", "results are missing"), ("not run", "not run"), ("deadlock", "deadlock"),
                                        ("failed", "input or output failed")])
def test_a_run_without_results_is_warned_of_and_left_out(tmp_path, how, state):
    study = make_study(tmp_path / "study.sqlite", {})
    study = damage(study.path, {study.runs[0].name: how})
    assert study.runs[0].state == state and study.runs[0].warnings()[0].startswith(state)
    assert not study.runs[0].is_done and len(study.results()) == 3
    assert [point.x for point in study.curves()[0].points] == [0.2, 0.3, 0.4]


def test_saturation_names_lines_without_results_too(tmp_path):
    study = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]}, loads=(0.1,))
    study = damage(study.path, {study.runs[1].name: "failed"})
    assert [row["carried"] for row in study.saturation()] == [0.1, None]
