# SPDX-License-Identifier: Apache-2.0
"""A study on disk: one SQLite file with every run's settings, results document and times.

Two tables. `outcomes` says how each piece of work ended, by the hash of all that it depends on; `runs` says which
of them make up the study, by name. Work whose hash is there is not done again.

    sqlite3 study.sqlite "select name, json_extract(document, '$.applications[0].accepted_load')
                          from runs join outcomes using (key)"
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Mapping, Sequence

SCHEMA = 1  # of the tables
MARK = 0x666C6974  # "flit": how SQLite's header says whose file this is

# The tables, and behind them what the viewer asks: the program has this very file in it.
_TABLES = Path(__file__).with_name("study.sql").read_text().partition("-- The viewer's question.")[0]
# Of every row a hash: SQLite would not notice a bit that has changed on a disk or on the way. `place` is table and name.
_SUMS = "create table if not exists sums (place text primary key, sum text not null) without rowid;"
DAMAGED = "its results in the study are damaged; running the sweep again does it once more"


class StudyError(Exception):
    """A study file that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended."""

    key: str
    status: int
    message: str = ""
    document: object = None  # the results of a run, or what a function returned
    attempts: int = 1
    started: float = math.nan
    wall_seconds: float = math.nan
    cpu_seconds: float = math.nan

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def is_final(self) -> bool:
        """Whether doing it again would end the same way: done, wrong settings, or an error in the simulation."""
        return self.status in (0, 1, 2)


@dataclass(frozen=True)
class RunRow:
    """A run's place in the study."""

    name: str
    key: str
    line: int
    x: float | None
    seed: int
    variables: dict
    overrides: list[str]
    config: dict


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def sum_of(row: Sequence[object]) -> str:
    """What is noted of a row; SQLite gives back a whole number as 2.0 where a column is real."""
    alike = [int(value) if isinstance(value, float) and value.is_integer() else value for value in row]
    return hashlib.sha256(_json(alike).encode()).hexdigest()[:32]


def writer_of(path: str | Path) -> int | None:
    """The process on this machine that has the study open to write; None when there is none."""
    lock = Path(path).with_name(Path(path).name + ".lock")
    try:
        process = int(lock.read_text())
        os.kill(process, 0)
    except PermissionError:  # another user's: it lives
        return process
    except (OSError, ValueError):
        return None
    return process


class Store:
    """The file. One process writes at a time; readers are welcome meanwhile."""

    def __init__(self, path: str | Path, *, write: bool = False):
        self.path = Path(path)
        self._lock: int | None = None
        self._is_writer = False
        if not write and not self.path.exists():
            raise StudyError(f"there is no study '{self.path}'; flitwarp-sweep STUDY.json makes one")
        if write:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._take_lock()
        try:
            name = self.path if write else self.path.resolve().as_uri() + "?mode=ro"
            self._base = sqlite3.connect(name, uri=not write, timeout=30, isolation_level=None)
            self._check_or_make(write)
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise StudyError(f"'{self.path}' is no study of flitwarp: {error}") from None
            raise
        self._sums = self._read_sums()

    def _take_lock(self) -> None:
        path = self.path.with_name(self.path.name + ".lock")
        while self._lock is None:
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(lock, 32).decode().strip()
                os.close(lock)
                raise StudyError(f"'{self.path}' is in use by process {holder}: wait for it, or end it first") from None
            if os.fstat(lock).st_nlink:
                self._lock = lock
            else:
                os.close(lock)  # its last holder removed it in between
        os.ftruncate(self._lock, 0)
        os.write(self._lock, str(os.getpid()).encode())

    def _check_or_make(self, write: bool) -> None:
        mark = self._base.execute("pragma application_id").fetchone()[0]
        schema = self._base.execute("pragma user_version").fetchone()[0]
        is_empty = not self._base.execute("select count(*) from sqlite_master").fetchone()[0]
        if is_empty and write:
            self._base.executescript(f"begin; {_TABLES} pragma application_id = {MARK};"
                                     f"pragma user_version = {SCHEMA}; commit;")
        elif mark != MARK:
            raise sqlite3.DatabaseError("another program made it" if mark or not is_empty else "it is empty")
        elif schema != SCHEMA:
            age = "a newer" if schema > SCHEMA else "an older"
            raise StudyError(f"'{self.path}' was made by {age} version of flitwarp (tables of version {schema}, this one "
                             f"has {SCHEMA}): use that version, or move the file away and run the sweep again")
        if write:
            self._is_writer = True
            self._base.execute("pragma journal_mode = wal")
            has_sums = bool(self._base.execute("select count(*) from sqlite_master where name = 'sums'").fetchone()[0])
            self._base.execute(_SUMS)
            if not has_sums:
                self._note_all()
            # Safe against a killed process; after a power failure the last runs may have to be done again.
            self._base.execute("pragma synchronous = normal")

    def _note_all(self) -> None:
        """The sums of a study that was made before there were any."""
        for table in ("facts", "outcomes", "runs"):
            rows = self._base.execute(f"select * from {table}").fetchall()
            self._all_or_none("insert or replace into sums values (?, ?)", [(f"{table} {row[0]}", sum_of(row)) for row in rows])

    def _read_sums(self) -> dict[str, str] | None:
        """None where a study has none yet."""
        try:
            return dict(self._base.execute("select place, sum from sums"))
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError as error:
            raise self._damage(f"{error}") from None

    def _damage(self, what: str) -> StudyError:
        return StudyError(f"'{self.path}' is damaged: {what}; take a copy of it, or move it away and run the sweep again")

    def _is_whole(self, table: str, row: Sequence[object]) -> bool:
        return self._sums is None or self._sums.get(f"{table} {row[0]}") == sum_of(row)

    def _write(self, table: str, row: Sequence[object]) -> None:
        """A row with its sum, or neither."""
        place, sum_ = f"{table} {row[0]}", sum_of(row)
        self._base.execute("savepoint row")
        self._base.execute(f"insert or replace into {table} values ({', '.join('?' * len(row))})", tuple(row))
        self._base.execute("insert or replace into sums values (?, ?)", (place, sum_))
        self._base.execute("release row")
        if self._sums is not None:
            self._sums[place] = sum_

    def close(self) -> None:
        if hasattr(self, "_base"):
            if self._is_writer:
                self._settle()
            self._base.close()
        if self._lock is not None:
            self.path.with_name(self.path.name + ".lock").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _settle(self) -> None:
        """Leaves one file, which can be read from folders where nothing can be written; unless someone is reading it."""
        self._is_writer = False
        try:
            self._base.execute("pragma busy_timeout = 0")
            self._base.execute("pragma journal_mode = delete")
        except sqlite3.Error:
            pass

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fact(self, name: str) -> object:
        """A fact about the study, such as its title; None when it has none of that name."""
        self._base.execute("savepoint fact")  # row and sum of one moment: a writer may be at work
        try:
            self._sums = self._read_sums()
            row = self._base.execute("select * from facts where name = ?", (name,)).fetchone()
        finally:
            self._base.execute("release fact")
        if row is None and f"facts {name}" in (self._sums or ()):
            raise self._damage(f"it has lost its {name}")
        try:
            if row is None or self._is_whole("facts", row):
                return json.loads(row[1]) if row else None
        except ValueError:  # a study without sums
            pass
        raise self._damage(f"its {name} has changed since it was written")

    def set_facts(self, facts: Mapping[str, object]) -> None:
        for name, value in facts.items():
            self._write("facts", (name, _json(value)))

    def outcome(self, key: str) -> Outcome | None:
        """None where there is none, or none that is whole: what is damaged is done again."""
        row = self._base.execute("select * from outcomes where key = ?", (key,)).fetchone()
        return self._outcome(row) if row and self._is_whole("outcomes", row) else None

    @staticmethod
    def _outcome(row: tuple) -> Outcome:
        key, status, message, document, attempts, *times = row
        return Outcome(key, status, message, json.loads(document) if document else None, attempts,
                       *(math.nan if t is None else t for t in times))

    def record(self, outcome: Outcome) -> None:
        times = [None if math.isnan(t) else t for t in (outcome.started, outcome.wall_seconds, outcome.cpu_seconds)]
        document = None if outcome.document is None else _json(outcome.document)
        self._write("outcomes", (outcome.key, outcome.status, outcome.message, document, outcome.attempts, *times))

    def forget_failures(self) -> int:
        """Forgets what failed, so that it is done again; how many that were."""
        gone = [key for (key,) in self._base.execute("select key from outcomes where status != 0")]
        self._remove("outcomes", "key", gone)
        return len(gone)

    def add_run(self, run: RunRow) -> None:
        self._write("runs", (run.name, run.key, run.line, run.x, run.seed, _json(run.variables), _json(run.overrides),
                             _json(run.config)))

    def keep_runs(self, names: Iterable[str]) -> None:
        """Takes all other runs out of the study; their outcomes stay, in case they come back."""
        kept = set(names)
        gone = [name for (name,) in self._base.execute("select name from runs") if name not in kept]
        self._remove("runs", "name", gone)

    def _remove(self, table: str, column: str, names: Sequence[str]) -> None:
        self._base.execute("savepoint removal")
        self._base.executemany(f"delete from {table} where {column} = ?", [(name,) for name in names])
        self._base.executemany("delete from sums where place = ?", [(f"{table} {name}",) for name in names])
        self._base.execute("release removal")
        self._sums = self._read_sums()

    def _all_or_none(self, statement: str, rows: Sequence[tuple]) -> None:
        self._base.execute("begin")
        self._base.executemany(statement, rows)
        self._base.execute("commit")

    def runs(self) -> list[tuple[RunRow, Outcome | None]]:
        """All runs in the order of the study, each with its outcome; one that is damaged has failed."""
        self._base.execute("begin")  # rows and sums of one moment
        try:
            self._sums = self._read_sums()
            found = [self._run(row) for row in self._base.execute("select runs.*, outcomes.* from runs left join outcomes "
                                                                  "using (key) order by line, x, seed, name")]
        except sqlite3.DatabaseError as error:
            raise self._damage(f"{error}") from None
        finally:
            self._base.execute("commit")
        lost = {place for place in self._sums or () if place.startswith("runs ")} - {f"runs {run.name}" for run, _ in found}
        if lost:
            raise self._damage(f"it has lost the run {min(lost).partition(' ')[2]}")
        return found

    def _run(self, row: tuple) -> tuple[RunRow, Outcome | None]:
        name, key, line, x, seed, variables, overrides, config = row[:8]
        try:
            run = RunRow(name, key, line, x, seed, json.loads(variables), json.loads(overrides), json.loads(config))
        except ValueError:
            run = None
        if run is None or not self._is_whole("runs", row[:8]):
            raise self._damage(f"the settings of run {name} have changed since they were written")
        if row[8] is None and f"outcomes {key}" not in (self._sums or ()):
            return run, None
        try:
            if row[8] is not None and self._is_whole("outcomes", row[8:]):
                return run, self._outcome(tuple(row[8:]))
        except ValueError:  # a study without sums
            pass
        return run, Outcome(key, 3, DAMAGED)
