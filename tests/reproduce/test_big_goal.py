# SPDX-License-Identifier: Apache-2.0
"""bench/big_goal.py at a size for tests: both forms of a schedule are one trace, and replaying needs no memory beside it."""
import pytest

from support import ROOT, script

RANKS = 64
TASKS, WAITS = 9, 12  # of a rank in an iteration: computing, four sends, four receives; what these wait for


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    big_goal = script(ROOT / "bench" / "big_goal.py")
    folder = tmp_path_factory.mktemp("goal")
    return [big_goal.measure(folder, RANKS, size) for size in (4_000_000, 16_000_000)]


def test_text_and_binary_are_the_same_schedule(rows):
    for (text, binary), size in zip(rows, (4_000_000, 16_000_000)):
        assert size <= text["file_bytes"] < 1.1 * size and text["tasks"] % (RANKS * TASKS) == 0
        assert text["messages"] == text["tasks"] * 4 // TASKS and text["unfinished_ranks"] == 0
        for key in ("tasks", "messages", "unfinished_ranks", "completion_time", "digest"):
            assert binary[key] == text[key]


def test_what_a_replay_keeps_does_not_grow_with_the_trace(rows):
    """The trace itself does: 32 bytes a task, 4 for a wait. Kept beside it, 12 bytes a message would be too much."""
    short, long = (binary for _, binary in rows)
    more_tasks = long["tasks"] - short["tasks"]
    trace = more_tasks * (32 + 4 * WAITS / TASKS)
    assert long["tasks"] > 3.5 * short["tasks"]
    assert trace / 2 < long["peak_rss_bytes"] - short["peak_rss_bytes"] < trace + 5 * more_tasks
