"""Building a replay from a section of a trace (thesis section 3.6.4).

The first pass takes the calls in the order of their execution. It infers what must have existed and
what must have happened between them, and writes both to temporary files, because an object's name
often becomes known only later. The second pass writes the manifest with its paths, and the
rewritten trace, from which it can leave out operations on unnamed objects.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.durable import replaced
from birthmark.data.common.setting_errors import check
from birthmark.data.datasets import row_groups
from birthmark.data.generated import Mark, distinct
from birthmark.data.traces.inputs import reject_duplicates
from birthmark.data.traces.reader import marks_of
from birthmark.layout_hint.rewrite import status as st
from birthmark.layout_hint.rewrite.calls import Call, read_calls
from birthmark.layout_hint.rewrite.inference import Inference
from birthmark.layout_hint.rewrite.manifest import write_manifest
from birthmark.layout_hint.rewrite.order import Window
from birthmark.layout_hint.rewrite.overlap import Overlaps
from birthmark.layout_hint.rewrite.permissions import SUPERUSER, Caller
from birthmark.layout_hint.rewrite.rules import HANDLED, InexplicableError, Rules
from birthmark.layout_hint.rewrite.schema import MANIFEST, NAMED, OPERATIONS
from birthmark.layout_hint.rewrite.spool import Spool
from birthmark.layout_hint.rewrite.tree import Node, Tree
from birthmark.layout_hint.settings import Replay, Unnamed

VERSION = 1
MAX_TARGET = 4_095
AS_CALLED = ("time", "op", "status", "name", "name2", "offset", "count", "cookie")
UNNAMED = "on a file without a name"
DEPTH = 64  # how many overlapping calls can wait for each other


@dataclass
class BuildSummary:
    """The result of a build. ``calls`` equals ``operations`` plus everything left out."""

    traces: list[str]
    section: tuple[int | None, int | None]  # µs since the epoch, UTC; None: no bound
    unnamed: str
    version: int = VERSION
    calls: int = 0  # in the section
    operations: int = 0  # of the trace, in the rewritten one
    left_out: dict[str, int] = field(default_factory=dict)  # by the reason
    inserted: dict[str, dict[str, int]] = field(default_factory=dict)  # by reason and procedure
    as_superuser: int = 0  # permitted by rules other than mode bits
    reordered: int = 0  # taken before one that was answered earlier
    manifest: dict[str, int] = field(default_factory=dict)  # objects by kind
    names: int = 0  # in the manifest: hard links count again
    bytes: int = 0  # sizes of the files in the manifest
    unnamed_files: int = 0
    unnamed_directories: int = 0
    period: tuple[int, int] | None = None  # µs, of the calls
    generated: list[Mark] = field(default_factory=list)  # by which workloads, if not real
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON would have it."""
        return asdict(self)


class _Pass:
    """The first pass: from calls to a spool of operations and a spool of names."""

    def __init__(
        self, calls: Iterator[Call], summary: BuildSummary, operations: Spool, names: Spool
    ) -> None:
        self._summary, self._operations, self._names = summary, operations, names
        self.window = Window(calls)
        self._tree = Tree()
        infer = Inference(self._tree, self.window, self._insert, self._finish)
        self._rules = Rules(self._tree, infer, self._write)
        self._overlaps = Overlaps(self._tree, self.window)
        self._time = 0
        self._left_out: Counter[str] = Counter()
        self._inserted: dict[str, Counter[str]] = {}
        self.unnamed: list[int] = []

    def run(self, progress: Callable[[int], None] | None) -> None:
        """Take every call."""
        for call in self.window:
            self._take(call, 0)
            if progress and self._summary.calls % 8_192 == 0:
                progress(self._summary.calls)
        for node in self._tree.alive():
            self._finish(node)
        self._summary.left_out = dict(self._left_out.most_common())
        self._summary.inserted = {why: dict(each) for why, each in self._inserted.items()}

    def _take(self, call: Call, depth: int) -> None:
        """Take a call, after those that overlap with it and must have come before it."""
        self._count(call)
        reason = _unusable(call)
        if reason:
            self._left_out[reason] += 1
            return
        while depth < DEPTH and (earlier := self._overlaps.earlier(call)) is not None:
            self.window.take(earlier)
            self._summary.reordered += 1
            self._take(earlier, depth + 1)
        self._time, written = call.time, self._summary.operations
        try:
            self._rules.apply(call)
        except InexplicableError as reason_found:
            if self._summary.operations == written:
                self._left_out[str(reason_found)] += 1

    def _count(self, call: Call) -> None:
        self._summary.calls += 1
        first, last = self._summary.period or (call.time, call.time)
        self._summary.period = (min(first, call.time), max(last, call.time))

    def _write(self, call: Call, caller: Caller, **columns: Any) -> None:
        if caller is SUPERUSER and call.uid:
            self._summary.as_superuser += 1
        self._operations.add(
            {
                "seq": self._operations.written,
                **{name: getattr(call, name) for name in AS_CALLED},
                **caller._asdict(),
                "target": call.target if call.op == "symlink" else None,
                "reply_count": call.reply_count if call.op == "read" else None,
                **columns,
            }
        )
        self._summary.operations += 1

    def _insert(self, why: str, op: str, **columns: Any) -> None:
        self._inserted.setdefault(why, Counter())[op] += 1
        row = {"seq": self._operations.written, "time": self._time, "op": op, "status": 0}
        self._operations.add({**row, "inserted": why, "uid": 0, "gid": 0, "gids": [], **columns})

    def _finish(self, node: Node) -> None:
        """Write the names that an object had at the start."""
        if node.unnamed and node.kind == "directory":
            self._summary.unnamed_directories += 1
        elif node.unnamed:
            self._summary.unnamed_files += 1
            self.unnamed.append(node.id)
        for parent, name in node.start:
            row = {"id": node.id, "parent": parent, "name": name, "path": b""}
            row |= {"invented": parent == 0, "kind": node.kind or "file", **node.first}
            self._names.add(row)


def _unusable(call: Call) -> str | None:
    """Return why a call cannot be replayed, or None."""
    if call.op not in HANDLED and call.op not in NAMED:
        return "nothing that a file system does"
    if call.status is None:
        return "no reply seen" if call.reply_time is None else "no status seen"
    if call.status >= st.RPC_REFUSED:
        return "refused by RPC"
    if call.status not in st.REPRODUCIBLE:
        return f"the server's own error: {st.name_of(call.status)}"
    return _cut_short(call) or _impossible(call)


def _cut_short(call: Call) -> str | None:
    needed: list[object] = [call.fh]
    if call.op in NAMED:
        needed.append(call.name)
    if call.op in ("rename", "link"):
        needed.append(call.fh2)
    if call.op == "rename":
        needed.append(call.name2)
    if call.op == "write":
        needed.append(call.count)
    if all(each is not None for each in needed):
        return None
    return "cut short" if call.short or call.version < 4 else "handle not in the trace"


def _impossible(call: Call) -> str | None:
    names = [name for name in (call.name, call.name2) if name is not None]
    hostile = any(not name or b"/" in name or b"\0" in name for name in names)
    dots = call.op != "lookup" and any(name in (b".", b"..") for name in names)
    target = call.target if call.op == "symlink" and call.target is not None else b"x"
    hostile = hostile or not target or b"\0" in target or len(target) > MAX_TARGET
    return "name that no file system has" if hostile or dots else None


_DEFAULTS = Replay()


def build(
    traces: Sequence[str | Path],
    out: str | Path,
    first: int | None = None,
    last: int | None = None,
    unnamed: Unnamed = _DEFAULTS.unnamed,
    progress: Callable[[int], None] | None = None,
) -> BuildSummary:
    """Build a replay from the calls made from ``first`` to before ``last``.

    Args:
        traces: trace files and datasets, in the order of their time; ``-`` is standard input.
        out: the directory to make; it must not be there, or be empty.
        first: µs since the epoch; None: from the beginning.
        last: likewise; None: to the end.
        unnamed: the treatment of files whose names the trace does not show: ``invent`` gives them
            names, ``discard`` leaves out every operation on them. Directories are always named.
        progress: called with the number of calls taken so far.

    Raises:
        OSError: a trace cannot be read, or ``out`` cannot be written; nothing is left then.
        ValueError: a file is no trace, is named twice, or after one of the same server that begins
            later; or no call was made in the section.
    """
    check(Replay, unnamed=unnamed)
    reject_duplicates(traces)
    began = time.monotonic()
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out}: expected a directory that is empty or not there yet")
    summary = BuildSummary([str(trace) for trace in traces], (first, last), unnamed)
    summary.generated = distinct(mark for trace in traces for mark in marks_of(trace))
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced(out) as temporary:
        temporary.mkdir()
        discarded = _satisfy(read_calls(traces, first, last), temporary, summary, progress)
        if summary.calls == 0:
            raise ValueError(f"{summary.traces[0]}: no calls in the section asked for")
        _rewrite(temporary, discarded if unnamed == "discard" else [], summary)
        summary.seconds = round(time.monotonic() - began, 3)
        text = json.dumps(summary.to_json(), indent=2) + "\n"
        (temporary / "build.json").write_text(text, encoding="utf-8")
    return summary


def _satisfy(
    calls: Iterator[Call],
    temporary: Path,
    summary: BuildSummary,
    progress: Callable[[int], None] | None,
) -> list[int]:
    """Make the first pass; return the files without a name."""
    with (
        Spool(temporary / "operations.spool", OPERATIONS) as operations,
        Spool(temporary / "names.spool", MANIFEST) as names,
    ):
        first_pass = _Pass(calls, summary, operations, names)
        first_pass.run(progress)
    return first_pass.unnamed


def _rewrite(temporary: Path, discarded: list[int], summary: BuildSummary) -> None:
    """Make the second pass, and remove the temporary files."""
    spooled = pq.ParquetFile(temporary / "operations.spool")
    unwanted = pa.array(discarded, pa.int64())
    with Spool(temporary / "operations.parquet", OPERATIONS) as operations:
        for batch in row_groups.batches(spooled, 65_536):
            wanted = batch.filter(_keeps(batch, unwanted)) if discarded else batch
            dropped = _originals(batch) - _originals(wanted)
            if dropped:
                summary.operations -= dropped
                summary.left_out[UNNAMED] = summary.left_out.get(UNNAMED, 0) + dropped
            operations.write(wanted)
    counts = write_manifest(temporary / "names.spool", temporary, set(discarded))
    summary.manifest, summary.names, summary.bytes = counts
    for name in ("operations.spool", "names.spool"):
        (temporary / name).unlink()


def _keeps(batch: pa.RecordBatch, unwanted: pa.Array) -> pa.Array:
    """Return which operations concern none of the given objects."""
    return pc.invert(
        reduce(pc.or_, (pc.is_in(batch[name], unwanted) for name in ("id", "id2", "new_id")))
    )


def _originals(batch: pa.RecordBatch) -> int:
    return int(batch["inserted"].null_count)
