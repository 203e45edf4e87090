# SPDX-License-Identifier: Apache-2.0
"""flitwarp-sweep STUDY.json or CONFIG.json --load 0.1:0.9:0.1, and what a script that ends in sweep.main() offers on its command line."""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, NoReturn, Sequence

from .backend import cores
from .declare import read_sweep, sweep_of
from .files import write_file
from .needed import how_to_install
from .progress import duration
from .results import NotResults, several
from .settings import WrongSettings
from .slurm import SlurmError
from .store import StudyError
from .study import Study, open_study
from .sweep import Sweep
from .units import bytes_of
from .tasks import FAILURE_POLICIES, Stopped

def size_of(text: str) -> int:
    """A size of memory, for the command line."""
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count_of(text: str) -> int:
    """A whole number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1")
    return int(text)


def figures_of(text: str) -> list[str] | None:
    """Names of figures; None for all."""
    return None if text == "all" else [] if text == "none" else text.split(",")


class Parser(argparse.ArgumentParser):
    """Wrong usage ends with status 1, as everywhere in flitwarp."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: {message}; --help tells more\n")


def _parser(program: str | None, takes_file: bool, description: str) -> argparse.ArgumentParser:
    parser = Parser(prog=program, description=description)
    if takes_file:
        parser.add_argument("study", help="the study: a JSON file, see docs/sweeps.md; or a configuration")
        spoken = parser.add_argument_group("of a configuration")
        spoken.add_argument("settings", nargs="*", metavar="PATH=VALUE", help="settings of all runs")
        spoken.add_argument("--load", metavar="FROM:TO:STEP", help="raise the load until it saturates; or loads with commas")
        spoken.add_argument("--vary", action="append", default=[], metavar="PATH=VALUE,...",
                            help="a setting and its values; may be given again")
        spoken.add_argument("--seeds", type=count_of, metavar="N", help="repeat each run with N seeds")
    parser.add_argument("--out", type=Path, help="folder for what it makes (default: out/NAME)")
    todo = parser.add_argument_group("instead of running").add_mutually_exclusive_group()
    todo.add_argument("--list", action="store_true", help="print the command of every run, at most")
    todo.add_argument("--estimate", action="store_true", help="tell how long the runs take that are left, by those done or by a second of two of them")
    todo.add_argument("--makefile", metavar="FILE", help="write a Makefile that makes all runs (- prints it)")
    todo.add_argument("--report", action="store_true", help="only draw figures and report of what is there")
    how = parser.add_argument_group("running")
    how.add_argument("--cores", type=count_of, metavar="N", help="use N cores (default: all)")
    how.add_argument("--memory", type=size_of, metavar="SIZE", help="use so much memory at most (default: all)")
    how.add_argument("--memory-per-run", type=size_of, default=0, metavar="SIZE", help="what a run needs")
    how.add_argument("--device", metavar="opencl[:N]", help="run on an OpenCL device, many runs together")
    how.add_argument("--backend", choices=("local", "slurm"), help="where runs run (default: local)")
    how.add_argument("--partition", help="Slurm: the partition")
    how.add_argument("--time-limit", metavar="HH:MM:SS", help="Slurm: of each run")
    how.add_argument("--retries", type=int, metavar="N", help="try a run that was killed N times more (default: 0)")
    how.add_argument("--on-failure", choices=tuple(FAILURE_POLICIES),
                     help="; ".join(f"{name}: {what}" for name, what in FAILURE_POLICIES.items()))
    how.add_argument("--again", action="store_true", help="do once more what failed")
    how.add_argument("--figures", type=figures_of, metavar="all|none|NAME,...",
                     help="which to draw, by kind or by file, as in load-latency or 'jobs*' (default: all)")
    how.add_argument("--no-report", action="store_true", help="run only")
    how.add_argument("--quiet", action="store_true", help="no progress line, no summary")
    return parser


def near(path: Path) -> str:
    """A path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _settings(sweep: Sweep, options: argparse.Namespace) -> dict:
    """What the command line says wins over what the study says."""
    chosen = dict(sweep.runner)
    given = {"cores_limit": options.cores, "memory_limit": options.memory, "retries": options.retries,
             "on_failure": options.on_failure, "memory_per_run": options.memory_per_run or None}
    chosen.update({name: value for name, value in given.items() if value is not None})
    backend = chosen.get("backend", "local")
    if options.backend:
        named = backend["type"] if isinstance(backend, dict) else backend
        backend = backend if named == options.backend else options.backend
    slurm = {"partition": options.partition, "time_limit": options.time_limit}
    slurm = {name: value for name, value in slurm.items() if value is not None}
    if slurm:
        backend = {**({"type": backend} if isinstance(backend, str) else backend), **slurm}
    return {**chosen, "backend": backend, "again": options.again, "quiet": options.quiet}


def _note_search(sweep: Sweep) -> None:
    if sweep.along and sweep.along.search is not None:
        print("a search decides as it goes: of each line only the first two runs are known", file=sys.stderr)


def _list(sweep: Sweep) -> int:
    import shlex
    _note_search(sweep)
    for job in sweep.jobs():
        print(f"{job.name}: {' '.join(shlex.quote(word) for word in job.command)}")
    return 0


def _makefile(sweep: Sweep, name: str, study: str) -> int:
    from .makefile import makefile
    _note_search(sweep)
    jobs = sweep.jobs()
    for read in {study, *map(str, sweep.plugins), *(word for job in jobs for word in job.command)}:
        if Path(name).exists() and Path(read).exists() and Path(name).samefile(read):
            raise ValueError(f"--makefile: '{name}' is read, and would be written over; expected another name")
    text = makefile(jobs, sweep.out.absolute() / "study.runs")
    if name == "-":
        print(text, end="")
    else:
        write_file(name, text)
        print(f"{several(len(jobs), 'run')} in {name}: make -j{cores()} -k -f {name}, then this command without --makefile "
              "takes in what it made")
    return 0


def _estimate(sweep: Sweep, limit: int | None) -> int:
    _note_search(sweep)
    limit = limit or sweep.runner.get("cores_limit")
    runs, seconds, is_least = sweep.estimate(cores_limit=limit)
    print(f"{several(runs, 'run')} at most; {'more than' if is_least else 'about'} {duration(seconds)} for those left, "
          f"on {several(limit or cores(), 'core')} "
          f"({'the first second of a run does not tell how long it takes' if is_least else 'less, where lines stop after saturation'})")
    return 0


def _summary(study: Study, files: Sequence[Path], began: float) -> int:
    """Prints what came of it; the exit status."""
    failed = [run for run in study.runs if not run.outcome or not run.outcome.ok]
    before = sum(1 for run in study.runs if run.outcome and run.outcome.started < began)
    there = "" if not before else f", {before if before < len(study.runs) else 'all'} of them done before"
    print(f"{several(len(study.runs), 'run')} in {duration(time.time() - began)}{there}:")
    made = {path.name: path for path in files}
    for name, what in (("report.html", "everything on one page"), ("results.csv", "all numbers, a line a run"),
                       ("table.tex", "means and intervals over seeds, for LaTeX")):
        if name in made:
            print(f"  {near(made[name]):40s} {what}")
    pictures = [path for path in files if path.suffix == ".png"]
    if pictures:
        print(f"  {near(pictures[0].parent) + '/':40s} {len(pictures)} figure{'s' if len(pictures) > 1 else ''}, each as .png, .svg and .pdf")
    print(f"  {near(study.path):40s} settings, results and times of each run")
    for run in failed[:5]:
        print(f"{run.name}: {run.warnings()[0]}", file=sys.stderr)
    if len(failed) > 5:
        print(f"... and {len(failed) - 5} more", file=sys.stderr)
    if failed:
        print(f"{len(failed)} of {len(study.runs)} runs failed; --again tries them once more", file=sys.stderr)
    return 2 if failed else 0


def _do(sweep: Sweep, options: argparse.Namespace) -> int:
    if options.out:
        sweep.out = options.out
    if options.device and options.estimate:
        raise ValueError("--estimate tells what cores take; a device takes about as long as the longest run")
    if options.device:
        sweep.on_device(options.device)
    if options.list:
        return _list(sweep)
    if options.makefile:
        return _makefile(sweep, options.makefile, options.study)
    if options.estimate:
        return _estimate(sweep, options.cores)
    began = time.time()
    study = open_study(sweep.path) if options.report else sweep.run(**_settings(sweep, options))
    files = [] if options.no_report else sweep.write(study, options.figures)
    if options.quiet:
        return 0 if all(run.outcome and run.outcome.ok for run in study.runs) else 2
    return _summary(study, files, began)


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _guarded(program: str, action: Callable[[], int]) -> int:
    signal.signal(signal.SIGTERM, _stop)  # as by Ctrl-C: runs end with it, and are not left on their own
    try:
        status = action()
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as error:
        print(f"{program}: {how_to_install(error)}. What has run is kept; --no-report needs none of it", file=sys.stderr)
        return 1
    except (WrongSettings, StudyError, NotResults, Stopped, ValueError, OSError, ImportError, sqlite3.Error,
            subprocess.SubprocessError, SlurmError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{program}: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def command_parser() -> argparse.ArgumentParser:
    """That of flitwarp-sweep."""
    return _parser("flitwarp-sweep", True, "Runs a study: its runs, figures and report.")


def sweep_main(sweep: Sweep, argv: Sequence[str] | None = None) -> int:
    """The command line of a script that defines a sweep."""
    parser = _parser(None, False, sweep.title)
    options = parser.parse_args(argv)
    return _guarded(parser.prog, lambda: _do(sweep, options))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of flitwarp-sweep."""
    parser = command_parser()
    options = parser.parse_intermixed_args(argv)

    def sweep() -> Sweep:
        if options.load is None and not options.vary and options.seeds is None and not options.settings:
            return read_sweep(options.study)
        return sweep_of(options.study, options.settings, options.load, options.vary, options.seeds)

    return _guarded(parser.prog, lambda: _do(sweep(), options))
