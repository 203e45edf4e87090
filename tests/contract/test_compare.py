# SPDX-License-Identifier: Apache-2.0
"""What ./dev compare recorded of BookSim: a part of it is run again by us, without the peer, and must give the same verdicts."""
import os
import sys

import pytest

from support import PROGRAM, ROOT

os.environ.setdefault("FLITWARP", PROGRAM)
sys.path.insert(0, str(ROOT / "tests" / "compare"))
import peer_booksim as booksim  # noqa: E402
import compare  # noqa: E402

RECORDED = [record for record in compare.recorded_of(booksim) if record["verdict"] != "refused"]
AGAIN = [record for record in RECORDED if record["verdict"] == "holds"][:4] + [record for record in RECORDED if record["verdict"] == "decisive"][:2]


@pytest.mark.parametrize("record", AGAIN, ids=[record["name"] for record in AGAIN])
def test_recorded_configurations_give_their_verdicts(record, monkeypatch):
    monkeypatch.setattr(compare, "PROGRAM", PROGRAM)
    again = compare.judge(booksim, record["name"], record["config"], record["points"])
    assert (again["verdict"], again["cause"]) == (record["verdict"], record["cause"])


def test_every_configuration_that_does_not_hold_has_its_cause():
    assert all(record["cause"] for record in RECORDED if record["verdict"] != "holds")
    assert len({record["name"] for record in RECORDED}) == len(RECORDED)


@pytest.mark.parametrize("words, said", [(["--only", "1.0"], "--only leaves some out"), (["--recorded"], "not allowed with argument --record")])
def test_what_is_recorded_is_not_replaced_by_a_part_of_it(words, said, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(compare, "HERE", tmp_path)  # nothing of ours is written over
    monkeypatch.setattr(sys, "argv", ["compare", "booksim", "--count", "0", "--out", str(tmp_path / "table.csv"), "--record", *words])
    with pytest.raises(SystemExit) as ended:
        compare.main()
    assert ended.value.code == 2 and said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
