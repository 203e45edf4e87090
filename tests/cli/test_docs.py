# SPDX-License-Identifier: Apache-2.0
"""The documents say what is so: their commands run, their files compile, their functions, files and links exist.

In README.md and in the pages of docs/ that RUN names, a block ```sh is run, line by line, where a line begins with build/flitwarp,
bin/ or gcc; ```sh fails expects an exit status other than 0; ```c NAME, ```cfg NAME and ```json NAME are written to that file, ```python NAME is
written and run. Each document has a folder of its own with copies of examples/ and links to include/, bin/ and build/flitwarp.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLITWARP = os.environ.get("FLITWARP", str(ROOT / "build" / "flitwarp"))
GUIDE = ("docs/guide.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "guide").glob("*.md"))))
RUN = ("README.md", *GUIDE, "docs/extending.md", "docs/sweeps.md", "docs/booksim.md", "docs/supersim.md", "docs/torus.md",
       "docs/scaling.md", "docs/fitfly.md", "docs/omnipath.md", "docs/simured.md")
ALL = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))))
PROGRAMS = ("build/flitwarp", "./build/flitwarp", "bin/flitwarp-", "gcc")


def blocks(document):
    """(language and words behind it, lines) of each fenced block."""
    text = (ROOT / document).read_text()
    for info, body in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.M | re.S):
        yield info.split(), body


def steps(document):
    """What to do, in order: (command, expected to fail) or (file name, text)."""
    for info, body in blocks(document):
        if info[0] in ("c", "cfg", "json", "python") and len(info) == 2:
            yield pytest.param(document, ("write", info[1], body), id=f"{document}: {info[1]}")
        if info[0] == "python" and len(info) == 2:
            yield pytest.param(document, ("run", f"/usr/bin/python3 {info[1]}", False), id=f"{document}: python {info[1]}")
        if info[0] == "sh":
            for line in body.splitlines():
                if line.startswith(PROGRAMS):
                    yield pytest.param(document, ("run", line, info[1:] == ["fails"]), id=f"{document}: {line[:90]}")


def make_clone(path):
    """A folder in which commands of the documents work as they do in a clone where ./dev build has run."""
    shutil.copytree(ROOT / "examples", path / "examples")
    (path / "include").symlink_to(ROOT / "include")
    (path / "bin").symlink_to(ROOT / "bin")
    (path / "build").mkdir()
    (path / "build" / "flitwarp").symlink_to(Path(FLITWARP).resolve())
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def folder(document):
        if document not in made:
            made[document] = make_clone(tmp_path_factory.mktemp("docs"))
        return made[document]

    return folder


@pytest.mark.parametrize("document, step", [step for document in RUN for step in steps(document)])
def test_document_does_what_it_says(document, step, folders):
    kind, what, more = step
    folder = folders(document)
    if kind == "write":
        (folder / what).write_text(more)
        return
    ended = subprocess.run(shlex.split(what), cwd=folder, capture_output=True, text=True, timeout=120, check=False,
                           env={**os.environ, "FLITWARP": FLITWARP, "PYTHONPATH": str(ROOT / "python")})
    assert (ended.returncode != 0) == more, ended.stderr
    assert "warning" not in ended.stderr


@pytest.mark.parametrize("document", sorted(set(RUN) - set(GUIDE)))
def test_document_has_commands(document):
    assert any(info[0] == "sh" for info, _ in blocks(document))


def test_the_guide_leads_to_all_its_pages():
    linked = set(re.findall(r"\]\((guide/\w+\.md)\)", (ROOT / "docs" / "guide.md").read_text()))
    assert linked == {path.removeprefix("docs/") for path in GUIDE[1:]}


def defines(path, function):
    """A function's name after a type at the beginning of a line, and a body behind its parameters."""
    found = re.finditer(rf"^[A-Za-z_][^\n;={{}}#]*\b{function}\([^;{{]*([;{{])", (ROOT / path).read_text(), re.M)
    return any(match[1] == "{" for match in found)


def steps_of_the_walk():
    """(first words, files, functions) of each item of its lists; an item goes on in lines that are set in."""
    text = (ROOT / "docs" / "walk.md").read_text()
    for item in re.findall(r"^(?:\d+\.|-) .*(?:\n +.*)*", text, re.M):
        yield item[:60], re.findall(r"`((?:src|include)/[\w/]+\.[ch])`", item), re.findall(r"`(\w+)\(\)`", item)


def test_every_function_of_the_walk_is_in_a_file_of_its_step():
    steps = list(steps_of_the_walk())
    assert len(steps) > 50
    missing = [(step, name) for step, files, names in steps for name in names if not any(defines(path, name) for path in files)]
    assert not missing
    unused = [(step, path) for step, files, names in steps for path in files if not any(defines(path, name) for name in names)]
    assert not unused


def test_sources_that_the_design_names_without_their_folder_exist():
    names = re.findall(r"`([\w/]+\.[ch])`", (ROOT / "docs" / "design.md").read_text())
    sources = [path.as_posix() for folder in ("src", "include", "viewer/engine") for path in (ROOT / folder).rglob("*.[ch]")]
    assert names and not [name for name in names if not any(path.endswith("/" + name) for path in sources)]


@pytest.mark.parametrize("document", ALL)
def test_files_that_a_document_names_exist(document):
    text = (ROOT / document).read_text()
    paths = re.findall(r"`((?:src|include|tests|docs|examples|bench|python)/[\w./]*\w)`", text)
    assert not [path for path in paths if not (ROOT / path).exists()]


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", ALL)
def test_links_lead_somewhere(document):
    here = ROOT / document
    for target in re.findall(r"\]\(([^)\s]+)\)", here.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (here.parent / name) if name else here
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target
