# SPDX-License-Identifier: Apache-2.0
"""Protocol classes: VCs of their own for requests and replies, which never wait for each other."""
import json
import re
import subprocess

import pytest
from support import PROGRAM, Failed, blast, config_of, network_of, run

ROUTERS = [("input_queued", {}), ("output_queued", {}), ("input_output_queued", {})]


def replying(router, classes, vcs=4, **more):
    network = network_of({"type": "torus", "widths": [4, 4]}, router={"type": router, "num_vcs": vcs},
                         protocol_classes=classes)
    application = blast(0.05, warmup=200, sample=1000, reply={"type": "fixed", "flits": 3},
                        reply_protocol_class=classes - 1, **more)
    return config_of(network, application)


@pytest.mark.parametrize("router", [router for router, _ in ROUTERS])
def test_each_class_keeps_to_its_vcs(router, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(replying(router, 2)))
    seen = {0: set(), 1: set()}
    for packet in range(12):
        walk = subprocess.run([PROGRAM, "trace", "config.json", "--packet", str(packet)], cwd=tmp_path, capture_output=True,
                              text=True, check=True).stdout
        flits = 1 + max(int(flit) for flit in re.findall(r"inject +flit (\d+)", walk))
        used = {int(vc) for vc in re.findall(r" vc (\d+)", walk)}
        seen[flits == 3] |= used  # replies have three flits
    assert seen[0] and seen[0] <= {0, 1} and seen[1] and seen[1] <= {2, 3}


@pytest.mark.parametrize("router", [router for router, _ in ROUTERS])
def test_classes_change_nothing_for_a_lonely_packet(router):
    # Nobody is met: the same number of cycles in whichever VCs.
    one = run(replying(router, 1, vcs=2), workload__applications__0__load=0.0005)["applications"][0]
    two = run(replying(router, 2, vcs=4), workload__applications__0__load=0.0005)["applications"][0]
    assert one["transaction_latency"]["min"] == two["transaction_latency"]["min"]


def test_a_jam_in_one_class_does_not_hold_up_the_other():
    """All send to one terminal in class 1, far more than it can take; class 0 shares channels with it, but no buffers."""
    def latency(classes):
        network = network_of({"type": "mesh", "widths": [4, 4]}, router={"num_vcs": 2}, protocol_classes=classes)
        calm = blast(0.02, warmup=1000, sample=4000, name="calm")
        jam = blast(0.3, {"type": "hotspot", "terminals": [5], "share": 1.0}, warmup=1000, sample=4000,
                    protocol_class=classes - 1, finish_limit=1000, name="jam")
        return run(config_of(network, calm, jam))["applications"][0]["network_latency"]["mean"]

    shared, apart = latency(1), latency(2)
    assert apart < 0.5 * shared


@pytest.mark.parametrize("change, message", [
    ({"network__protocol_classes": 3}, "3 protocol classes cannot share evenly"),
    ({"network__router__num_vcs": 2}, "needs 2 VCs on this topology for each of 2 protocol classes"),
    ({"workload__applications__0__protocol_class": 2}, "2 is not below network.protocol_classes (2)"),
    ({"workload__applications__0__reply_protocol_class": 5}, "5 is not below"),
])
def test_classes_that_do_not_fit_are_refused(change, message):
    with pytest.raises(Failed) as caught:
        run(replying("input_queued", 2), **change)
    assert caught.value.status == 1 and message in caught.value.message
