# SPDX-License-Identifier: Apache-2.0
"""What a device does not run is refused before the run, by the setting that is in the way."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from on_device import check, device, find_device, run  # noqa: F401
from support import PROGRAM, ROOT

BASE = {
    "network": {"topology": {"type": "mesh", "widths": [3, 3]}, "routing": "dimension_order", "channel": {"latency": 2},
                "router": {"type": "input_queued", "num_vcs": 2, "buffer_depth": 4}},
    "workload": {"applications": [{"type": "blast", "load": 0.1, "warmup": 100, "sample": 200, "size": {"type": "fixed", "flits": 2}}]},
}
APPLICATION = "workload.applications[0]"
TURNS = ("runs on a device with round robin in all allocators and the arbiter alone, input_picks 'output', 256 lanes and 64 ports; "
         "accepted: those")
SENSED = ["network.routing=minimal_adaptive", "network.router.num_vcs=6"]
# (overrides, the setting that is named, what is said of it)
REFUSED = [
    (["network.router.type=output_queued"], "network.router", "'output_queued' does not run on a device; accepted: 'input_queued' or 'packet'"),
    (["network.router.type=packet", "network.router.num_vcs=64", "network.topology.concentration=13"], "network.router.num_vcs",
     "1088 lanes of a router do not run on a device; accepted: at most 1024"),
    (["network.router.buffer_exclusive=1"], "network.router.buffer_exclusive", "VCs that share a buffer do not run on a device; accepted: its default"),
    (["network.router.input_speedup=2"], "network.router.input_speedup", "a speedup does not run on a device; accepted: 1"),
    (["network.router.output_speedup=2"], "network.router.output_speedup", "a speedup does not run on a device; accepted: 1"),
    (["network.router.allocator=islip"], "network.router.allocator", TURNS),
    (["network.router.arbiter=age"], "network.router.arbiter", TURNS),
    (["network.router.vc_allocator=islip"], "network.router.vc_allocator", TURNS),
    (["network.router.input_picks=vc"], "network.router.input_picks", TURNS),
    ([*SENSED, 'network.router.congestion={"type":"buffer_occupancy","phantom_value":1}'], "network.router.congestion.phantom_value",
     "does not run on a device; accepted: 0"),
    ([*SENSED, 'network.router.congestion={"type":"buffer_occupancy","latency":200000000}'], "network.router.congestion.latency",
     "200000000 ticks are more than a device can keep changes for"),
    (['network.topology={"type":"cluster","servers":2,"gpus":2}', "network.routing=hierarchical"], "network.routing",
     "'hierarchical' does not run on a device; accepted: a routing algorithm with a device form"),
    (["network.router.num_vcs=8", 'network.routing={"type":"ugal","knowledge":"global"}'], "network.routing.knowledge",
     "routing that reads the sensors of other routers does not run on a device"),
    (["network.planes.count=2"], "network.planes.count", "2 planes do not run on a device; accepted: 1"),
    (["network.protocol_classes=2", 'network.service={"levels":[0,1],"arbitration":"weighted","weights":[1,2]}'], "network.service.arbitration",
     "levels of service that go before others do not run on a device; accepted: 'alike'"),
    (["network.protocol_classes=2", 'network.service={"levels":[0,1],"arbitration":"alike"}', "workload.applications.0.reply=fixed",
      "workload.applications.0.reply_protocol_class=1"], f"{APPLICATION}.reply_protocol_class",
     "replies of another level of service (1) than requests (0) do not run on a device; accepted: a class of their level"),
    (['network.failures.links=[{"share": 0.1}]', "network.routing=minimal", "network.router.num_vcs=16"], "network.failures", "failures do not run on a device; accepted: none"),
    (["network.deadlock=recover"], "network.deadlock", "recovery does not run on a device; accepted: 'report'"),
    (["network.interface=queue_per_vc"], "network.interface", "'queue_per_vc' does not run on a device; accepted: 'standard'"),
    (["network.interface.feed_cycle=2"], "network.interface.feed_cycle", "does not run on a device; accepted: null"),
    (['workload.applications.0={"type":"stream"}'], APPLICATION, "'stream' does not run on a device; accepted: 'blast'"),
    (["workload.applications.0.injection=poisson", "workload.applications.0.gap_by_size=true"], f"{APPLICATION}.gap_by_size",
     "does not run on a device; accepted: its default"),
    (["workload.applications.0.messages_per_transaction=2"], f"{APPLICATION}.messages_per_transaction", "does not run on a device; accepted: its default"),
    (["workload.applications.0.relative=FOLDER/weights.csv"], f"{APPLICATION}.relative", "does not run on a device; accepted: null"),
    (["workload.applications.0.traffic=scan"], f"{APPLICATION}.traffic", "'scan' does not run on a device; accepted: a traffic pattern with a device form"),
    # Before a device is looked at.
    (["simulator.sync=conservative"], "simulator.device", 'a device runs alone; accepted: "sync": "sequential", and one rank'),
]
# Sentences for what only a component of a plugin, or one that is still to come, could be.
NOT_TO_BE_HAD = [
    "remembers too much for a device",  # no injection process does
    "packets of more than %u flits do not run on a device",  # max_packet may not be larger
    # A network of so many routers takes too long to build.
    "'%s' may take detours, which a device counts by a table of distances of at most %u routers; there are %u",
]


@pytest.fixture
def base(tmp_path):
    (tmp_path / "base.json").write_text(json.dumps(BASE, indent=1))
    (tmp_path / "weights.csv").write_text("0,2\n")
    return tmp_path / "base.json"


def test_base_of_these_tests_runs_on_a_device(base, device):  # noqa: F811
    status, said = check(base, device)
    assert status == 0 and re.search(r"^device: \d+ \(.+\) can run it, in \d+\.\d MiB of its memory of \d+\.\d GiB$", said, re.M), said
    assert run(base, base.parent, "--device", device).status == 0


@pytest.mark.parametrize("overrides, setting, sentence", REFUSED, ids=lambda value: value[0] if isinstance(value, list) else None)
def test_setting_is_refused_by_check_and_by_run(overrides, setting, sentence, base):
    overrides = [one.replace("FOLDER", str(base.parent)) for one in overrides]
    status, said = check(base, "opencl", *overrides)
    assert status == 1 and said.rstrip("\n").rpartition(f" {setting}: ")[2] == sentence, said
    ended = run(base, base.parent, *overrides, "--device", "opencl")
    assert (ended.status, ended.said, ended.results) == (1, said, None)
    assert run(base, base.parent, *overrides).status == 0, "it runs without a device"


def sentences_of_scope():
    """Each as it stands in the source, words in place of what is filled in."""
    text = "".join((ROOT / "src" / "device" / name).read_text() for name in ("lockstep_scope.c", "lockstep_routing.c", "lockstep_input_queued.c", "lockstep_packet.c"))
    for call in re.findall(r"\b(?:choice|node)_error\((.*?)\);", text, re.S):
        for sentence in re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+)', call):
            words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', sentence))
            if " " in words:
                yield words


def test_every_sentence_of_the_scope_is_tested():
    sentences = list(sentences_of_scope())
    assert len(sentences) > 10
    shown = [sentence for _, _, sentence in REFUSED]
    for sentence in sentences:
        pattern = re.sub(r"%[a-z]+", ".+", re.escape(sentence).replace("\\%", "%"))
        assert sentence in NOT_TO_BE_HAD or any(re.fullmatch(pattern, one) for one in shown), sentence
    assert set(NOT_TO_BE_HAD) <= set(sentences)


@pytest.mark.parametrize("word", ["cuda", "opencl:", "opencl:x", "opencl:-1", "opencl:1x", "OpenCL", "opencl:99999999", ""])
def test_wrong_word_is_refused(word, base):
    status, said = check(base, word)
    assert (status, said) == (1, f"command line: simulator.device: found '{word}', expected \"opencl\" or \"opencl:NUMBER\"\n")
    assert run(base, base.parent, "--device", word).said == said


def test_device_that_is_not_there_is_told_by_its_number(base, device):  # noqa: F811
    status, said = check(base, "opencl:4000")
    assert status == 1 and re.fullmatch(r"device 4000: there is none of this number, expected at most \d+ \(flitwarp list device\)\n", said)
    assert run(base, base.parent, "--device", "opencl:4000").said == said


def test_machine_without_a_device_is_told(base, tmp_path, monkeypatch, device):  # noqa: F811
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert check(base, "opencl") == (1, "device 0: OpenCL finds no device on this machine\n")


@pytest.fixture
def small_device(tmp_path, monkeypatch):
    """PoCL's, that may give one GiB of the machine's memory."""
    icd = Path("/etc/OpenCL/vendors/pocl.icd")
    if not icd.exists() or not find_device()[0]:
        pytest.skip("there is no PoCL (pocl-opencl-icd)")
    (tmp_path / "vendors").mkdir()
    shutil.copy(icd, tmp_path / "vendors")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "vendors"))
    monkeypatch.setenv("POCL_MEMORY_LIMIT", "1")
    return "opencl:0"


# A bin of latencies has two words of 64 bits for every tick of the window: 16 bytes of 10^8 are 1.49 GiB, of 4 * 10^7 0.596.
@pytest.mark.parametrize("sample, sentence", [
    (100_000_000, r"the run would take 1\.\d+ GiB of its memory, and it has 1; most of that is for latencies by moment of sampling: 1\.49"),
    (40_000_000, r"the run would take 0\.596 GiB of its memory in one piece for latencies by moment of sampling, and it gives 0\.\d+"),
])
def test_network_too_large_for_the_memory_is_refused_before_the_run(sample, sentence, base, small_device):
    window = f"workload.applications.0.sample={sample}"
    status, said = check(base, small_device, window)
    assert status == 1 and re.fullmatch(rf"device 0 \(.*\): {sentence}\n", said), said
    ended = run(base, base.parent, window, "--device", small_device)
    assert (ended.status, ended.said) == (1, said)


def test_latencies_too_large_for_the_memory_are_refused_before_the_run(base, small_device):
    status, said = check(base, small_device, "network.channel.latency=100000000")
    assert status == 1 and re.fullmatch(r"the channels' latencies of up to \d+ ticks take more memory than the device has\n", said), said


def test_model_does_not_run_on_a_device():
    config = ROOT / "examples" / "phold.json"
    sentence = "command line: simulator.device: a model does not run on a device; accepted: null\n"
    assert check(config, "opencl") == (1, sentence)
    ended = subprocess.run([PROGRAM, "run", str(config), "--device", "opencl"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, sentence)


def test_checkpoint_of_a_device_is_refused(base):
    ended = run(base, base.parent, "--device", "opencl", "--checkpoint-every", "1000")
    assert ended.status == 1 and "--checkpoint-every: found simulator.device, expected one of them: a checkpoint keeps nothing of a device" in ended.said


def test_plugin_has_no_device_form(tmp_path, base, device):  # noqa: F811
    """The example of docs/gpu.md, which has one in the tree, runs here and is refused by a device."""
    page = (ROOT / "docs" / "gpu.md").read_text()
    block = re.search(r"^    /\* SPDX.*?^    #endif$", page, re.M | re.S)[0]
    (tmp_path / "opposite.c").write_text(re.sub(r"^    ", "", block, flags=re.M) + "\n")
    plugin = tmp_path / "opposite.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", tmp_path / "opposite.c", "-o", plugin], check=True)

    def call(command, *arguments):
        return subprocess.run([PROGRAM, "--plugin", plugin, command, *arguments], capture_output=True, text=True, check=False)
    traffic = "workload.applications.0.traffic=opposite"
    assert call("run", base, traffic, "--quiet").returncode == 0
    assert "opposite" in call("list", "traffic").stdout and "runs on a device" not in call("explain", "opposite").stdout
    refused = call("run", base, traffic, "--device", device)
    assert refused.returncode == 1 and f"{APPLICATION}.traffic: 'opposite' does not run on a device; accepted: " in refused.stderr


# ---- what looks at a network from outside runs it here ---------------------------------------------------------------------------


def test_trace_follows_a_packet_here(base):
    def trace(*arguments):
        return subprocess.run([PROGRAM, "trace", str(base), "--packet", "1", *arguments], capture_output=True, text=True, check=True).stdout
    assert trace("simulator.device=opencl:4000") == trace()


def test_applications_alone_run_on_the_device_too(base, device):  # noqa: F811
    """--baseline builds the network again for each: that has a device of its own."""
    ended = run(base, base.parent, "--device", device, "--baseline")
    assert ended.status == 0 and ended.results["applications"][0]["slowdown"] == run(base, base.parent, "--baseline").results["applications"][0]["slowdown"]
