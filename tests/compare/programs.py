# SPDX-License-Identifier: Apache-2.0
"""Running a program of others."""
import os
import subprocess
import time
from pathlib import Path


class Failed(Exception):
    """A program did not do what it was asked for."""


class Refused(Exception):
    """The peer does not take this configuration."""


def run(words, folder, limit=600):
    """What a program printed, and the CPU seconds that it took."""
    with open(Path(folder) / "said", "w+") as said:
        begin = time.monotonic()
        process = subprocess.Popen([str(word) for word in words], cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - begin > limit:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise Failed(f"{Path(words[0]).name}: no end after {limit} s")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read(), used.ru_utime + used.ru_stime
