# SPDX-License-Identifier: Apache-2.0
"""Of test_everything_runs.py those routers whose runs take longest: files run side by side, and one of all would end last."""
import pytest

import test_everything_runs as everything


@pytest.mark.parametrize("router", sorted(everything.COSTLY))
@pytest.mark.parametrize("routing", sorted(everything.registered()["routing"]))
def test_routing_is_refused_or_runs_and_drains(routing, router, tmp_path):
    everything.test_routing_is_refused_or_runs_and_drains_on_every_topology(routing, router, tmp_path)
