# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/tasks/ are commands that work: each page is done from top to bottom in a folder like a fresh clone's.

A block ```sh is handed to one bash as it stands, in the folder where the last one ended, and must succeed; of ```sh fails the last command must not. ```sh screen is for
somebody at a screen: it is started, must give an address that answers, and is ended as by Ctrl-C. A block ```text behind it is
all that is printed: a line `...` stands for any number of lines, and `...` within a line for anything.
"""
import os
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from test_docs import FLITWARP, ROOT, blocks, make_clone

PAGES = sorted(path.relative_to(ROOT) for path in (ROOT / "docs" / "tasks").glob("*.md"))
PROGRESS = re.compile(r" *\d+% \[")  # a study that takes longer than some seconds says how far it is


def environment():
    return {**os.environ, "FLITWARP": FLITWARP, "PYTHONDONTWRITEBYTECODE": "1"}


def is_lacking(line):
    """Says the program that it was built without something, the viewer's page say?"""
    return "built without" in line


def do(block, folder):
    """The exit status, the lines that a block prints, and where it ends."""
    ended = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", f"trap 'echo; pwd' EXIT\n{block}"], cwd=folder, env=environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=120, check=False)
    *printed, where = ended.stdout.splitlines()
    return ended.returncode, [line.rstrip() for line in printed[:-1] if not PROGRESS.match(line)], where


def do_at_screen(block, folder):
    """The same for a command that shows something in a browser until it is told to end."""
    tools = Path(folder) / "screen"  # no browser is opened
    tools.mkdir(exist_ok=True)
    (tools / "xdg-open").write_text("#!/bin/sh\n")
    (tools / "xdg-open").chmod(0o755)
    process = subprocess.Popen(["bash", "-c", "exec " + block.strip()], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, env={**environment(), "PATH": f"{tools}:{os.environ['PATH']}"})
    lines = []
    while not (address := re.search(r"http://\S+", lines[-1] if lines else "")):
        lines.append(process.stdout.readline().rstrip())
        assert lines[-1], "\n".join(lines)
    if not any(map(is_lacking, lines)):
        with urllib.request.urlopen(address[0], timeout=30) as page:
            assert page.status == 200
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    return process.returncode, lines + rest.splitlines(), folder


def test_a_page_leaves_nothing_in_the_clone():
    for page in PAGES:
        first = next(body for info, body in blocks(page) if info[0] == "sh")
        assert first.startswith(f"mkdir -p out/{page.stem} && cd out/{page.stem} "), page


def matches(shown, printed):
    """Is this what was printed, but for what `...` stands for?"""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    pattern = ".*".join(map(re.escape, shown[0].split("...")))
    return bool(printed) and bool(re.fullmatch(pattern, printed[0])) and matches(shown[1:], printed[1:])


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page_does_what_it_says(page, tmp_path):
    folder, printed, number = make_clone(tmp_path / "flitwarp"), None, 0
    for info, body in blocks(page):
        if info[0] == "sh":
            number += 1
            status, printed, folder = (do_at_screen if "screen" in info else do)(body, folder)
            if lacking := [line for line in printed if is_lacking(line)]:
                pytest.skip(lacking[0])
            is_right = (status != 0) if "fails" in info else status == 0
            assert is_right, f"block {number} ended with status {status}:\n{body}\n" + "\n".join(printed)
        elif info[0] == "text":
            shown = [line.rstrip() for line in body.splitlines()]
            assert matches(shown, printed), f"block {number} prints\n" + "\n".join(printed) + f"\nand not\n{body}"
    assert number > 3


def test_there_are_five_tasks():
    assert {page.stem for page in PAGES} == {"first_plot", "own_router_and_topology", "compare_networks", "ai_cluster", "deadlock_lecture"}


@pytest.mark.parametrize("shown, printed, expected", [
    (["a", "b"], ["a", "b"], True), (["a"], ["a", "b"], False), (["a", "..."], ["a", "b"], True), (["...", "b"], ["a", "b"], True),
    (["a ... c"], ["a b c"], True), (["a ... c"], ["a b d"], False), (["..."], [], True), (["a.b"], ["axb"], False)])
def test_what_is_shown_is_compared(shown, printed, expected):
    assert matches(shown, printed) == expected
