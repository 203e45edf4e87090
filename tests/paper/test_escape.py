# SPDX-License-Identifier: Apache-2.0
"""What escape VCs ask of a router (Duato): a packet that was given an adaptive VC must not wait for it behind others
while its tail holds an escape VC. Packets of five flits are larger than any queue here, so that they stretch over
several routers. Routers with output queues that give out a VC with room for a single flit, or look at the queue but not
beyond it, stand still in most of these runs.
"""
import pytest

from support import blast, config_of, network_of, run

CASES = [("output_queued", 2, 2), ("input_output_queued", 1, 1), ("input_output_queued", 2, 2), ("input_queued", 2, None)]


@pytest.mark.parametrize("router, buffer_depth, output_depth", CASES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_adaptive_packets_always_escape(router, buffer_depth, output_depth, seed):
    depths = {"buffer_depth": buffer_depth, **({"output_depth": output_depth} if output_depth else {})}
    network = network_of({"type": "torus", "widths": [8, 8]}, "torus_adaptive",
                         router={"type": router, "num_vcs": 3, **depths})
    application = blast(0.95, flits=5, warmup=1000, sample=10000, traffic="tornado")
    result = run(config_of(network, application, seed=seed))
    assert result["complete"] and result["applications"][0]["accepted_load"] > 0.01
