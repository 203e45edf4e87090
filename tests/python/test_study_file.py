# SPDX-License-Identifier: Apache-2.0
"""A study's file between its writers and readers, and runs that left no results."""

import random
import sqlite3

import pytest

from flitwarp import plot
from flitwarp.store import Store, StudyError, writer_of
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


def seen(study):
    """All that one can see of a study."""
    return study.facts, [(run.row, run.outcome) for run in study.runs]


@pytest.mark.parametrize("has_sums", [True, False])
def test_a_flipped_bit_is_noticed_or_changes_nothing(tmp_path, has_sums):
    """Anywhere in the file: what is read is what was written, or the study says what is wrong. One without sums says it of
    what cannot be read."""
    path = make_study(tmp_path / "study.sqlite", {"VCs": [2, 4]}, loads=(0.1, 0.2)).path
    if not has_sums:
        with sqlite3.connect(path) as base:
            base.execute("drop table sums")
    whole, before = path.read_bytes(), seen(open_study(path))
    rng = random.Random(1)
    noticed = 0
    for _ in range(150):
        place = rng.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << rng.randrange(8)]) + whole[place + 1:])
        try:
            study = open_study(path)
            damaged = [run for run in study.runs if run.state == "damaged"]
            assert damaged or seen(study) == before or not has_sums, place
            noticed += bool(damaged)
        except StudyError as error:
            assert str(path) in str(error)
            noticed += 1
    assert noticed > (30 if has_sums else 5)


def test_a_damaged_run_is_named_and_done_again(tmp_path, capsys):
    path = make_study(tmp_path / "study.sqlite", {}, loads=(0.1, 0.2)).path
    name, text = open_study(path).runs[1].name, path.read_bytes()
    assert text.count(b'"target_load":0.2') == 1
    path.write_bytes(text.replace(b'"target_load":0.2', b'"target_load":0.3'))
    study = open_study(path)
    assert [run.state for run in study.runs] == ["done", "damaged"] and "sweep again" in study.runs[1].warnings()[0]
    assert plot.main(["load-latency", str(path), "-o", str(tmp_path / "a.svg")]) == 0
    assert f"{name} of {path} is left out" in capsys.readouterr().err
    with Store(path, write=True) as store:
        assert store.outcome(study.runs[0].row.key) and store.outcome(study.runs[1].row.key) is None


def test_a_study_without_sums_is_read_and_gets_them(tmp_path):
    path = make_study(tmp_path / "study.sqlite", {}, loads=(0.1, 0.2)).path
    before = seen(open_study(path))
    with sqlite3.connect(path) as base:
        base.execute("drop table sums")
    assert seen(open_study(path)) == before
    Store(path, write=True).close()
    assert seen(open_study(path)) == before
    with sqlite3.connect(path) as base:
        base.execute("delete from runs where x = 0.1")
    with pytest.raises(StudyError, match="lost the run L0.1_S1"):
        open_study(path)
