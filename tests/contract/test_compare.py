# SPDX-License-Identifier: Apache-2.0
"""What ./dev compare recorded of BookSim and SuperSim: a part of it is run again by us, without the peer, and must give the same verdicts."""
import os
import sys

import pytest

from support import PROGRAM, ROOT

os.environ.setdefault("FLITWARP", PROGRAM)
sys.path.insert(0, str(ROOT / "tests" / "compare"))
import peer_booksim as booksim  # noqa: E402
import peer_supersim as supersim  # noqa: E402
import compare  # noqa: E402


def recorded(peer):
    return [record for record in compare.recorded_of(peer) if record["verdict"] != "refused"]


def some(peer, names):
    return [(peer, record) for record in recorded(peer) if record["name"] in names]


# Of BookSim: quick ones that need few seeds.
FEW_SEEDS = ("9.0", "9.1", "9.2", "9.6", "9.14", "9.21")
# Of SuperSim: quick ones of each architecture, flow control and topology, with all that chooses by congestion.
QUICK = ("3.0", "3.7", "3.9", "3.13", "3.18", "3.29", "3.33", "3.36", "3.44", "3.50", "3.58")
AGAIN = some(booksim, FEW_SEEDS) + some(supersim, QUICK)


@pytest.mark.parametrize("peer, record", AGAIN, ids=[f"{peer.NAME} {record['name']}" for peer, record in AGAIN])
def test_recorded_configurations_give_their_verdicts(peer, record, monkeypatch):
    monkeypatch.setattr(compare, "PROGRAM", PROGRAM)
    again = compare.judge(peer, record["name"], record["config"], record["points"], seeds=None if peer is booksim else (1,))
    assert (again["verdict"], again["cause"]) == (record["verdict"], record["cause"])


def test_something_is_recorded_and_run_again():
    assert len(recorded(booksim)) == 300 and len(recorded(supersim)) == 60
    assert len(some(booksim, FEW_SEEDS)) == len(FEW_SEEDS) and len(some(supersim, QUICK)) == len(QUICK) > 0


def test_as_many_configurations_of_booksim_hold_as_the_page_says():
    holding = sum(record["verdict"] == "holds" for record in recorded(booksim))
    assert f"**{holding} of 300 hold" in (ROOT / "docs/booksim.md").read_text()


@pytest.mark.parametrize("peer", [booksim, supersim], ids=lambda peer: peer.NAME)
def test_95_of_a_hundred_configurations_hold(peer):
    assert sum(record["verdict"] == "holds" for record in recorded(peer)) >= 0.95 * len(recorded(peer))


@pytest.mark.parametrize("peer", [booksim, supersim], ids=lambda peer: peer.NAME)
def test_every_configuration_that_does_not_hold_has_its_cause(peer):
    records = recorded(peer)
    assert all(record["cause"] not in ("", "not found yet") for record in records if record["verdict"] != "holds")
    assert len({record["name"] for record in records}) == len(records)


@pytest.mark.parametrize("words, said", [(["--only", "1.0"], "--only leaves some out"), (["--recorded"], "not allowed with argument --record")])
def test_what_is_recorded_is_not_replaced_by_a_part_of_it(words, said, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(compare, "HERE", tmp_path)  # nothing of ours is written over
    monkeypatch.setattr(sys, "argv", ["compare", "booksim", "--count", "0", "--out", str(tmp_path / "table.csv"), "--record", *words])
    with pytest.raises(SystemExit) as ended:
        compare.main()
    assert ended.value.code == 2 and said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
