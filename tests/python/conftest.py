# SPDX-License-Identifier: Apache-2.0
"""The package as a script of a user would see it, with the program under test."""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("FLITWARP", str(ROOT / "build" / "flitwarp"))
os.environ["PYTHONPATH"] = str(ROOT / "python")
