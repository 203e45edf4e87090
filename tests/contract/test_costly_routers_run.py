# SPDX-License-Identifier: Apache-2.0
"""Of test_everything_runs.py those routers whose runs take longest: files run side by side, and one of all would end last."""
import pytest

import test_everything_runs as everything


@pytest.mark.parametrize("router", sorted(everything.COSTLY))
@pytest.mark.parametrize("routing, topology", everything.PAIRS, ids=[f"{routing}-{topology}" for routing, topology in everything.PAIRS])
def test_pair_is_refused_or_runs_and_drains(routing, topology, router, tmp_path):
    everything.test_pair_is_refused_or_runs_and_drains_in_every_router(routing, topology, router, tmp_path)
