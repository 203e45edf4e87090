# SPDX-License-Identifier: Apache-2.0
"""Runs, sweeps, figures and reports around the flitwarp program.

The program is asked for what it knows (components, options, results); this package keeps no list
of keys. Only figures.py and report.py need matplotlib; all else is the standard library.
"""

from .binary import components, find_binary, schema, version
from .run import RunFailed, run, run_many
from .sweep import Curve, Point, load_sweep

__all__ = ["Curve", "Point", "RunFailed", "components", "find_binary", "load_sweep", "run", "run_many", "schema",
           "version"]
