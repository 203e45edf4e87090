# SPDX-License-Identifier: Apache-2.0
"""The small interface that `flitwarp new` copies does what the standard one does, and says where it cannot."""
import json
import subprocess

import pytest

from support import PROGRAM, ROOT


def run(example, *words, status=0):
    ended = subprocess.run([PROGRAM, "run", ROOT / "examples" / example, "--quiet", *words], capture_output=True, text=True,
                           check=False)
    assert ended.returncode == status, ended.stderr
    return json.loads(ended.stdout)["simulation"]["digest"] if status == 0 else ended.stderr


@pytest.mark.parametrize("example", ["torus_uniform.json", "virtual_cut_through.json", "request_reply.json", "stencil.json"])
@pytest.mark.parametrize("words", [[], ["--sync", "conservative", "--threads", "3"], ["--sync", "optimistic"],
                                   ["network.terminal_channel.cycle=2", "network.terminal_channel.latency=5"]])
def test_single_channel_gives_the_results_of_standard(example, words):
    assert run(example, "network.interface=single_channel", *words) == run(example, "network.interface=standard", *words)


def test_single_channel_tells_the_same_walk_of_a_packet_as_standard():
    """From its first router to the line that says when the tail is there."""
    def walk(interface):
        words = [PROGRAM, "trace", ROOT / "examples" / "torus_uniform.json", f"network.interface={interface}", "--packet", "0"]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return [line for line in shown.splitlines() if "inject" not in line]
    assert " eject " in walk("single_channel")[-1]
    assert walk("single_channel") == walk("standard")


@pytest.mark.parametrize("example, what", [
    ("planes.json", "several planes"), ("priorities.json", "levels of service"),
    ("packet_dragonfly.json", "a router that moves several flits at once")])
def test_single_channel_says_what_it_cannot_serve(example, what):
    message = run(example, "network.interface=single_channel", status=1)
    assert f"found {what}, expected the interface 'standard'" in message
