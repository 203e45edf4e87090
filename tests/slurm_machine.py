# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of one node, this machine, for as long as a test needs it.

    with slurm_machine(MaxArraySize=8) as machine:
        subprocess.run(["sbatch", ...], env={**os.environ, **machine.environment})

munged, slurmctld and slurmd run from a temporary folder on ports of their own, so a Slurm that the machine already
has is left alone. They end with the test, and with the test's process if that is killed. The next start ends and
removes whatever such a one left behind: all processes of a cluster, its jobs too, carry the path of its slurm.conf
in their environment.
"""

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PLACE = "/tmp"  # a short path: that of a socket has at most 107 characters
PREFIX = "flitwarp-slurm-"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol")
OTHERS = ("SLURM", "SBATCH", "SQUEUE", "SCANCEL", "SINFO")  # settings of another cluster, in the environment
START_SECONDS = 30
CORES = 8  # at least: jobs of tests mostly sleep
TRIES = 3  # another process may take a port between our asking for it and its use
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"  # daemons lie where only root looks

CONFIGURATION = {
    "ClusterName": "flitwarp",
    "SlurmUser": "root",
    "SlurmdUser": "root",
    "AuthType": "auth/munge",
    "MpiDefault": "none",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "SlurmdParameters": "config_overrides",  # more cores than there are
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CPU_Memory",
    "SchedulerType": "sched/builtin",
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1",
    "JobCompType": "jobcomp/none",
    "JobAcctGatherType": "jobacct_gather/linux",
    "JobAcctGatherFrequency": "task=1",
    "JobAcctGatherParams": "OverMemoryKill",
    "AccountingStorageType": "accounting_storage/none",
    "ReturnToService": "2",
    "KillWait": "2",
    "SlurmctldTimeout": "30",
    "SlurmdTimeout": "30",
    "MessageTimeout": "10",
    "DefMemPerCPU": "64",
}


@dataclass
class Machine:
    """A cluster that runs."""

    folder: Path
    environment: dict[str, str]  # what a process needs to talk to it
    cores: int


def why_not() -> str:
    """Why no cluster can be started here; empty when one can."""
    missing = [program for program in PROGRAMS if not shutil.which(program, path=PATH)]
    if missing:
        return f"Slurm is not installed: there is no {', '.join(missing)}"
    return "" if os.geteuid() == 0 else "slurmd needs root"


@contextlib.contextmanager
def slurm_machine(**settings):
    """Settings go into slurm.conf, instead of or beside those above."""
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=PLACE))
    folder.chmod(0o755)  # munged wants its socket to be reachable
    lock = os.open(folder / "lock", os.O_CREAT | os.O_WRONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # held for as long as we live: the folder is in use
    daemons: list[subprocess.Popen] = []
    try:
        yield _start(folder, settings, daemons)
    finally:
        _stop(folder, daemons)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _start(folder: Path, settings: dict, daemons: list[subprocess.Popen]) -> Machine:
    for _ in range(TRIES):
        machine = _configure(folder, settings)
        failure = _daemons(machine, daemons)
        if not failure:
            return machine
        _stop(folder, daemons)
    logs = "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in folder.glob("*.log"))
    raise RuntimeError(f"Slurm does not start: {failure}\n{logs}")


def _configure(folder: Path, settings: dict) -> Machine:
    name = socket.gethostname().split(".")[0]
    cores = max(CORES, len(os.sched_getaffinity(0)))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    for sub in ("state", "spool"):
        shutil.rmtree(folder / sub, ignore_errors=True)
        (folder / sub).mkdir()
    ports = _free_ports(2)
    lines = {
        **CONFIGURATION,
        "SlurmctldHost": f"{name}(127.0.0.1)",  # the address in brackets: the name may resolve to anything
        "SlurmctldPort": ports[0],
        "SlurmdPort": ports[1],
        "AuthInfo": f"socket={folder}/munge.socket",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": folder / "slurmd.pid",
        "SlurmctldLogFile": folder / "slurmctld.log",
        "SlurmdLogFile": folder / "slurmd.log",
        "PlugStackConfig": folder / "plugstack.conf",  # not the machine's
        **settings,
    }
    (folder / "slurm.conf").write_text(
        "".join(f"{key}={value}\n" for key, value in lines.items())
        + f"NodeName={name} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={max(256, memory * 9 // 10)} State=UNKNOWN\n"
        + "PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
    (folder / "plugstack.conf").write_text("")
    key = folder / "munge.key"
    key.unlink(missing_ok=True)
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    return Machine(folder, {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}, cores)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _daemons(machine: Machine, running: list[subprocess.Popen]) -> str:
    """Starts them and waits until the node takes jobs; what went wrong, or nothing."""
    folder, environment = machine.folder, _environment(machine)
    munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
              f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed",
              "--origin=127.0.0.1", "--num-threads=2"]
    for command in (munged, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-c"]):
        with open(folder / f"{command[0]}.out.log", "wb") as output:
            running.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, start_new_session=True, preexec_fn=_die_with_parent))
        if command is munged and not _comes(lambda: (folder / "munge.socket").exists(), running):
            break
    else:
        sinfo = ["sinfo", "--noheader", "--format=%T"]
        if _comes(lambda: subprocess.run(sinfo, env=environment, capture_output=True).stdout == b"idle\n", running):
            return ""
    ended = [f"{process.args[0]} ended with status {process.returncode}" for process in running if process.poll()]
    return ", ".join(ended) or f"the node takes no jobs after {START_SECONDS} s"


def _comes(claim, running: list[subprocess.Popen]) -> bool:
    """Waits until the claim holds; not when a daemon has ended, nor forever."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and all(process.poll() is None for process in running):
        if claim():
            return True
        time.sleep(0.05)
    return False


def _environment(machine: Machine) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(OTHERS)}
    return {**kept, **machine.environment}


_PRCTL = ctypes.CDLL(None, use_errno=True).prctl


def _die_with_parent() -> None:
    _PRCTL(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def _stop(folder: Path, daemons: list[subprocess.Popen]) -> None:
    """In the order in which nobody misses anybody; each is given a little time to clean up after itself."""
    for process in reversed(daemons):
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    _end(folder)
    for process in daemons:
        process.wait()
    daemons.clear()


def _end(folder: Path) -> None:
    """Ends all processes of a cluster: daemons, and the jobs that are left."""
    while pids := processes(folder):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def processes(folder: Path) -> list[int]:
    """Those of the cluster in this folder."""
    mark = f"SLURM_CONF={folder}/slurm.conf".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def remove_leftovers() -> None:
    """Ends clusters whose tests were killed."""
    for folder in Path(PLACE).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / "lock", os.O_WRONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where its test is still at work
                _end(folder)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
