# SPDX-License-Identifier: Apache-2.0
"""Jobs as a Makefile, for whoever wants make, or a tool that reads Makefiles, to run them.

    make -j 8 -k -f Makefile

A job's target is its product in the spool, so what is there is not made again, and a runner that finds it takes it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Sequence

from .backend import Job

HEAD = """\
SHELL = /bin/sh
MAKEFLAGS += --no-builtin-rules
EQUALS = =
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all
"""


def makefile(jobs: Sequence[Job], spool: Path) -> str:
    """The text of a Makefile that makes all products. It works in any folder; commands run in the present one."""
    here, place = os.getcwd(), Path(os.path.abspath(spool))
    targets = [_name(str(place / f"{job.key}.json")) for job in jobs]
    rules = [f"# {_comment(job.name)}\n{target}:\n{_recipe(job, place, here)}" for job, target in zip(jobs, targets)]
    return "\n".join([HEAD, " \\\n  ".join(["all:", *targets]) + "\n", *rules])


def _recipe(job: Job, spool: Path, here: str) -> str:
    errors = _words([str(spool / f"{job.key}.err")])
    lines = [
        f"@printf '%s\\n' {_words([_comment(job.name)])}",
        f"@fw_n=$$(printf '\\n.'); fw_n=$${{fw_n%.}}; mkdir -p {_words([str(spool)])} && cd {_words([here])} \\",
        f"&& {{ (exec {_words(job.command)}) </dev/null >/dev/null 2>{errors} \\",
        f"|| {{ fw_s=$$?; cat {errors} >&2; exit $$fw_s; }}; }} && rm -f {errors}",
    ]
    return "".join(f"\t{line}\n" for line in lines)


def _words(words: Sequence[str]) -> str:
    """For the shell, through make: which would end the line at a line's end, whatever the quotes."""
    return shlex.join(words).replace("\n", "'\"$fw_n\"'").replace("$", "$$")


def _name(path: str) -> str:
    """A file's name where make reads names."""
    wrong = re.search(r"[\n\t;|\\*?[]", path)
    if wrong:
        raise ValueError(f"{path!r}: make cannot have {wrong[0]!r} in a file's name")
    return re.sub(r"([ #:])", r"\\\1", path).replace("$", "$$").replace("=", "$(EQUALS)")


def _comment(text: str) -> str:
    """One line that a backslash does not join to the next."""
    return " ".join(text.split()).rstrip("\\")
