# SPDX-License-Identifier: Apache-2.0
"""How long a run would take, by its first second."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence

SECONDS = 0.8  # that a run is given: an answer is there within two


class Probe:
    """A run that is started, given a moment, and asked how far it has come. What it writes is thrown away."""

    def __init__(self, command: Sequence[str]):
        self.folder = tempfile.TemporaryDirectory(prefix="flitwarp-")
        files = {"{product}": f"{self.folder.name}/results.json", "{log}": f"{self.folder.name}/packets.csv.zst"}
        words = [files.get(word, word) for word in command if word != "--quiet"]
        self.began = time.monotonic()
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self) -> tuple[float, bool]:
        """Seconds of the whole run; whether it may be longer by far, since it could not tell."""
        with self.folder:
            try:
                said = self.process.communicate(timeout=max(0.0, self.began + SECONDS - time.monotonic()))[1]
                return time.monotonic() - self.began, False
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGINT)
            try:
                said = self.process.communicate(timeout=SECONDS)[1]
            except subprocess.TimeoutExpired:  # still reading its files
                self.process.kill()
                said = self.process.communicate()[1]
        share = re.search(r"after ([\d.e+-]+) % of the run", said)
        if share and float(share[1]) > 0:
            return SECONDS / (float(share[1]) / 100), False
        return SECONDS, True
