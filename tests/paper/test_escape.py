# SPDX-License-Identifier: Apache-2.0
"""What escape VCs ask of a router (Duato): a packet that was given an adaptive VC must not wait for it behind others
while its tail holds an escape VC. Packets of five flits are larger than any queue here, so that they stretch over
several routers. Routers with output queues that give out a VC with room for a single flit, or look at the queue but not
beyond it, stand still in most of these runs.
"""
import pytest

from support import Failed, blast, config_of, network_of, run

CASES = [("output_queued", 2, 2), ("input_output_queued", 1, 1), ("input_output_queued", 2, 2), ("input_queued", 2, None)]


@pytest.mark.parametrize("router, buffer_depth, output_depth", CASES)
@pytest.mark.parametrize("routing, seed", [("torus_adaptive", 1), ("torus_adaptive", 2), ("torus_adaptive", 3), ("duato", 1)])
def test_adaptive_packets_always_escape(router, buffer_depth, output_depth, routing, seed):
    depths = {"buffer_depth": buffer_depth, **({"output_depth": output_depth} if output_depth else {})}
    network = network_of({"type": "torus", "widths": [8, 8]}, routing,
                         router={"type": router, "num_vcs": 3, **depths})
    application = blast(0.95, flits=5, warmup=1000, sample=10000, traffic="tornado")
    result = run(config_of(network, application, seed=seed))
    assert result["complete"] and result["applications"][0]["accepted_load"] > 0.01


@pytest.mark.parametrize("router", ["input_queued", "input_output_queued", "output_queued", "omnipath", "packet", "single_cycle"])
@pytest.mark.parametrize("topology, vcs", [({"type": "torus", "widths": [4, 3]}, 2), ({"type": "mesh", "widths": [4, 3]}, 1),
                                           ({"type": "hypercube", "dimensions": 3}, 1)], ids=["torus", "mesh", "hypercube"])
def test_duato_with_nothing_but_escape_vcs_is_dimension_order(router, topology, vcs):
    order = {"type": "dimension_order", "dateline": "fixed", "tie": "up"}
    digests = {run(config_of(network_of(topology, routing, {"type": router, "num_vcs": vcs}),
                             blast(0.5, flits=4, warmup=100, sample=400)))["simulation"]["digest"] for routing in ("duato", order)}
    assert len(digests) == 1 and "0" * 32 not in digests  # which would say that no packet was sampled


def transposed(routing, router, **more):
    network = network_of({"type": "mesh", "widths": [8, 8]}, routing, {"type": router, "num_vcs": 4})
    return run(config_of({**network, **more}, blast(0.3, "transpose", warmup=1000, sample=3000, finish_limit=1000)))


@pytest.mark.parametrize("router", ["input_queued", "input_output_queued", "output_queued", "packet", "single_cycle", "simured", "staged"])
def test_who_is_on_an_adaptive_vc_stays_adaptive_in_every_router(router):
    """All of a row turn where it meets the diagonal, up to 7 terminals by one channel: 1/7 is all that dimension order carries
    of each, though others send more. Other minimal ways carry twice that."""
    assert transposed("dimension_order", router)["applications"][0]["accepted_load"] < 0.26
    assert transposed("one_way_escape", router)["applications"][0]["accepted_load"] > 0.29


def test_a_vc_for_escape_is_not_adaptive():
    network = network_of({"type": "torus", "widths": [4, 4]}, {"type": "one_way_escape", "adaptive_vc": 1}, {"num_vcs": 4})
    with pytest.raises(Failed, match="adaptive_vc: 1 is a VC for escape; accepted: 2 and above"):
        run(config_of(network, blast(0.1)))


def test_ways_between_are_those_of_a_mesh():
    network = network_of({"type": "torus", "widths": [4, 4]}, {"type": "valiant", "intermediate": "between"}, {"num_vcs": 4})
    with pytest.raises(Failed, match='intermediate: "between" needs topology "mesh", not "torus"'):
        run(config_of(network, blast(0.1)))
