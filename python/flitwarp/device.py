# SPDX-License-Identifier: Apache-2.0
"""Runs of a study on an OpenCL device, which does many of them together: `flitwarp run --runs FILE --device opencl`."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from .backend import MESSAGE_BYTES, Ended, Job, Local
from .files import write_file

AT_ONCE = 4096  # runs of one process
ALONE = "--baseline"  # such a run has others within


class _Batch:
    """A process with its jobs. It tells the end of each in a line."""

    def __init__(self, spool: Path, device: str, jobs: list[Job]):
        self.jobs, self.spool = jobs, spool
        self.left = {job.key: job for job in jobs}  # whose end is not known
        self.wanted = set(self.left)
        place = jobs[0].command.index("run")
        runs = spool / "device.json"
        write_file(runs, json.dumps([job.command[place + 1:] for job in jobs], indent=0))
        command = [*jobs[0].command[:place], "run", "--runs", str(runs), "--device", device, "--quiet"]
        lock = os.open(spool / "device.lock", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(spool / "device.err", "wb") as errors:
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                                pass_fds=(lock,), start_new_session=True)
            os.write(lock, str(self.process.pid).encode())
        finally:
            os.close(lock)
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = b""
        self.started, self.clock = time.time(), time.monotonic()

    def read(self) -> tuple[list[Ended], bool]:
        """Those that have ended since, and whether the process goes on."""
        assert self.process.stdout
        goes_on = True
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.process.stdout.fileno(), 1 << 16):
                self.text += piece
            goes_on = False
        *lines, self.text = self.text.split(b"\n")
        return [self._ended(json.loads(line)) for line in lines], goes_on

    def _ended(self, told: dict) -> Ended:
        job = self.jobs[told["run"]]
        self.left.pop(job.key, None)
        return Ended(job.key, told["status"], told["said"].strip()[-MESSAGE_BYTES:], self.started,
                     time.monotonic() - self.clock, math.nan)

    def end(self) -> tuple[int, str]:
        """The exit status of the process, which has closed its output, and what it said."""
        status = self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
        (self.spool / "device.lock").unlink(missing_ok=True)
        said = (self.spool / "device.err").read_bytes()[-MESSAGE_BYTES:].decode(errors="replace").strip()
        return status if status >= 0 else 128 - status, said

    def kill(self) -> None:
        """With all of its runs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.end()


class Device:
    """One process at a time, with all runs that are asked for when it starts: they take as long as the longest of them.

    What a plan will probably ask for is run at once too, since that costs no time of its own. A process that ends with an
    error of one run leaves the others without an end: each is then tried by itself.
    """

    speculates = AT_ONCE

    def __init__(self, spool: Path, device: str = "opencl"):
        self.spool, self.device = spool, device
        self.alone = Local(spool, 1)
        self._waiting: dict[str, Job] = {}
        self._suspects: list[Job] = []  # one of which has ended a process
        self._apart: set[str] = set()  # jobs that run by themselves
        self._batch: _Batch | None = None

    @property
    def cores(self) -> int:
        """How many are at work."""
        return max(1, len(self._batch.left) if self._batch else 0)

    def adopt(self, keys: Collection[str]) -> set[str]:
        """None: what a killed runner has left at work on the device is ended."""
        with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
            lock = os.open(self.spool / "device.lock", os.O_WRONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.killpg(int((self.spool / "device.lock").read_text()), signal.SIGKILL)
                fcntl.flock(lock, fcntl.LOCK_EX)  # it is gone
            finally:
                os.close(lock)
        return set()

    def start(self, jobs: Iterable[Job]) -> list[str]:
        started = []
        for job in jobs:
            if ALONE in job.command or "run" not in job.command:
                keys = self.alone.start([job])
                self._apart.update(keys)
                started += keys
            elif len(self._waiting) < AT_ONCE:
                self._take(job)
                started.append(job.key)
        return started

    def _take(self, job: Job) -> None:
        if self._batch and job.key in self._batch.left:
            self._batch.wanted.add(job.key)  # it was cancelled, and runs still
        else:
            self._waiting[job.key] = job

    def _launch(self) -> None:
        if self._batch or not (self._suspects or self._waiting):
            return
        jobs = [self._suspects.pop()] if self._suspects else list(self._waiting.values())
        for job in jobs:
            self._waiting.pop(job.key, None)
        self._batch = _Batch(self.spool, self.device, jobs)

    def wait(self, timeout: float | None) -> list[Ended]:
        self._launch()
        if not self._batch:
            return self._of_those_apart(timeout)
        ended = self._of_those_apart(0) if self._apart else []
        if not ended:
            assert self._batch.process.stdout
            select.select([self._batch.process.stdout], [], [], 0.2 if self._apart else timeout)
        return ended + self._of_batch(self._batch)

    def _of_those_apart(self, timeout: float | None) -> list[Ended]:
        ended = self.alone.wait(timeout)
        self._apart.difference_update(item.key for item in ended)
        return ended

    def _of_batch(self, batch: _Batch) -> list[Ended]:
        ended, goes_on = batch.read()
        if not goes_on:
            self._batch = None
            ended += self._lost(batch, *batch.end())
        elif not batch.wanted & batch.left.keys():
            self._batch = None
            batch.kill()
        return [item for item in ended if item.key in batch.wanted]

    def _lost(self, batch: _Batch, status: int, said: str) -> list[Ended]:
        """What is to be said of jobs whose process ended without a word of them."""
        if len(batch.jobs) > 1 and status != 1:
            self._suspects += [job for job in batch.left.values() if job.key in batch.wanted]
            return []
        return [Ended(key, status or 3, said, batch.started, time.monotonic() - batch.clock, math.nan) for key in batch.left]

    def cancel(self, key: str) -> None:
        """It may go on beside others, and nobody hears of it."""
        self._waiting.pop(key, None)
        self._suspects = [job for job in self._suspects if job.key != key]
        if key in self._apart:
            self._apart.discard(key)
            self.alone.cancel(key)
        if self._batch:
            self._batch.wanted.discard(key)

    def close(self) -> None:
        self.alone.close()
        if self._batch:
            self._batch.kill()
            self._batch = None
