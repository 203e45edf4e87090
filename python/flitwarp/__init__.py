# SPDX-License-Identifier: Apache-2.0
"""Runs, sweeps, figures and reports around the flitwarp program.

    import flitwarp
    r = flitwarp.run("examples/torus_uniform.json", load=0.3)
    r.value("packet_latency.p99")

The program is asked for what it knows (components, options, settings); this package keeps no list of keys. Only
figures need matplotlib, only arrays numpy; all else is the standard library.
"""

from .binary import components, find_binary, schema, version
from .curve import Curve, Point
from .results import NotResults, Results, UnknownColumn
from .run import RunFailed, run, run_many
from .settings import WrongSettings
from .store import StudyError
from .study import Run, Study, open_study
from .sweep import Sweep
from .tasks import Need, Runner, Stopped, Task, call

__all__ = ["Curve", "Need", "NotResults", "Point", "Results", "Run", "RunFailed", "Runner", "Stopped", "Study",
           "StudyError", "Sweep", "Task", "UnknownColumn", "WrongSettings", "call", "components", "find_binary",
           "open_study", "run", "run_many", "schema", "version"]
