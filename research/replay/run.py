"""Run a replay: make the manifest, perform the operations, and compare the outcomes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from birthmark.data.common.durable import output
from birthmark.data.common.rates import per_second
from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.schema import OPERATIONS
from birthmark.research.replay.credentials import Credentials
from birthmark.research.replay.operation import Operation, read_operations
from birthmark.research.replay.perform import Performer
from birthmark.research.replay.snapshot import make
from birthmark.research.replay.store import Store

LIMITS = {5, 22, 27, 28, 30, 31, 63, 69}


@dataclass
class Difference:
    """Operations that differ from the trace in the same way for the same reason."""

    op: str
    expected: str
    got: str
    reason: str
    count: int = 0
    first: int = 0  # the place (seq) of the first of them

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The properties that they share."""
        return self.op, self.expected, self.got, self.reason


@dataclass
class RunSummary:
    """The result of a run. ``same``, ``different`` and ``not_compared`` make up ``operations``."""

    build: str
    root: str
    operations: int = 0  # of the trace
    same: int = 0
    different: int = 0
    not_compared: int = 0  # for lack of the superuser's rights
    inserted: int = 0
    inserted_failed: int = 0
    lenient: int = 0  # permitted by a server's rules that this file system lacks
    superuser: bool = False
    manifest_names: int = 0
    differences: list[Difference] = field(default_factory=list)
    checks: dict[str, dict[str, int]] = field(default_factory=dict)  # compared and alike
    procedures: dict[str, dict[str, int]] = field(default_factory=dict)  # operations and same
    snapshot_seconds: float = 0.0
    seconds: float = 0.0  # of the operations alone
    trace_seconds: float = 0.0

    @property
    def share(self) -> float:
        """The share of the compared operations that ended as in the trace."""
        compared = self.same + self.different
        return self.same / compared if compared else 1.0

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON would have it."""
        rate = per_second(self.operations + self.inserted, self.seconds)
        return asdict(self) | {"share": self.share, "operations_per_second": rate}


class _Comparison:
    """Compares outcomes, and explains differences."""

    def __init__(self, summary: RunSummary, store: Store) -> None:
        self._summary, self._store = summary, store
        self._lost: set[int] = set()  # objects that a failure prevented
        self._differences: dict[tuple[str, str, str, str], Difference] = {}

    def take(self, operation: Operation, got: int) -> None:
        """Count an outcome."""
        gone = got == st.ESTALE and not self._store.knows(operation.id)
        same = st.same(operation.op, operation.status, got, gone)
        summary = self._summary
        if operation.inserted is None:
            tally = summary.procedures.setdefault(operation.op, {"operations": 0, "same": 0})
            tally["operations"] += 1
            tally["same"] += same
            summary.operations += 1
            summary.same += same
            summary.different += not same
        else:
            summary.inserted += 1
            summary.inserted_failed += not same
        if not same:
            self._differ(operation, got)

    def _differ(self, operation: Operation, got: int) -> None:
        reason = self._reason(operation, got)
        made = operation.new_id
        if got != st.OK and made is not None and not self._store.knows(made):
            self._lost.add(made)
        op = operation.op if operation.inserted is None else f"{operation.op} (inserted)"
        new = Difference(op, st.name_of(operation.status), st.name_of(got), reason)
        found = self._differences.setdefault(new.key, new)
        found.first = found.first if found.count else operation.seq
        found.count += 1

    def _reason(self, operation: Operation, got: int) -> str:
        if {operation.id, operation.id2, operation.new_id} & self._lost:
            return "follows from an earlier difference"
        if got in LIMITS:
            return "a limit of this file system"
        denied = (st.EACCES, st.EPERM)
        if got in denied:
            return "this file system permits less"
        if operation.status in denied:
            return "this file system permits more"
        return "the state is not that of the trace"

    def differences(self) -> list[Difference]:
        """Return the differences, the most frequent first."""
        return sorted(self._differences.values(), key=lambda each: -each.count)


def run(
    build: str | Path,
    root: str | Path,
    flush: bool = False,
    results: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> RunSummary:
    """Make a build's manifest in an empty directory, and perform its operations there.

    As the superuser it performs every operation with the caller's user and groups. Effective ids
    are the whole process's, so no other thread may rely on them meanwhile. Otherwise owners are not
    applied, and operations that a server refused because of them are counted, but not performed.

    Args:
        build: the directory that a build made.
        root: the directory to work in; made if need be. Nothing outside it is touched.
        flush: whether to wait for the disk at every write and commit.
        results: where the summary goes as JSON; None: ``results.json`` in ``build``.
        progress: called with the number of operations performed so far.

    Raises:
        FileExistsError: ``root`` is not empty.
        OSError: the manifest cannot be made.
        ValueError: the build is invalid, or a name cannot be that of a directory entry.
    """
    build, root = Path(build), Path(root)
    operations = _open(build / "operations.parquet")
    _make_root(root)
    summary = RunSummary(str(build), str(root))
    with Credentials() as credentials:
        store = Store(root, credentials)
        try:
            summary.superuser = credentials.real
            began = time.monotonic()
            summary.manifest_names = make(build / "manifest.parquet", store, credentials.real)
            summary.snapshot_seconds = round(time.monotonic() - began, 3)
            performer = Performer(store, credentials, flush)
            _perform(operations, performer, store, summary, progress)
        finally:
            store.close()
    target = Path(results) if results else build / "results.json"
    with output(target) as temporary:
        temporary.write_text(json.dumps(summary.to_json(), indent=2) + "\n", encoding="utf-8")
    return summary


def _make_root(root: Path) -> None:
    """Make the directory to work in. Callers can enter it, whatever the umask."""
    if not root.exists():
        root.mkdir(parents=True)
        root.chmod(0o755)
    elif any(root.iterdir()):
        raise FileExistsError(f"{root}: expected an empty directory")


def _open(path: Path) -> pq.ParquetFile:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file: expected the directory of a build")
    file = pq.ParquetFile(path)
    if not file.schema_arrow.equals(OPERATIONS, check_metadata=False):
        raise ValueError(f"{path}: expected a rewritten trace's columns, found others")
    return file


def _perform(
    file: pq.ParquetFile,
    performer: Performer,
    store: Store,
    summary: RunSummary,
    progress: Callable[[int], None] | None,
) -> None:
    comparison = _Comparison(summary, store)
    denied = () if summary.superuser else (st.EACCES, st.EPERM)
    began, first, last = time.monotonic(), None, None
    for operation in read_operations(file):
        first, last = first or operation.time, operation.time
        if operation.status in denied or (denied and operation.inserted == "denied"):
            _pass_over(operation, summary)
        else:
            comparison.take(operation, performer.perform(operation))
        if progress and (summary.operations & 8_191) == 0:
            progress(summary.operations)
    summary.seconds = round(time.monotonic() - began, 3)
    summary.trace_seconds = ((last or 0) - (first or 0)) / 1e6
    summary.lenient = performer.lenient
    summary.checks = {
        what: {"compared": counts[0], "alike": counts[1]}
        for what, counts in performer.checks.items()
    }
    summary.differences = comparison.differences()


def _pass_over(operation: Operation, summary: RunSummary) -> None:
    if operation.inserted is None:
        summary.operations += 1
        summary.not_compared += 1
