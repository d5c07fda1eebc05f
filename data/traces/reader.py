"""Read traces: one reader for every format, selected by the first bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pyarrow as pa

import birthmark_native
from birthmark.data import generated
from birthmark.data.schema import MESSAGES
from birthmark_native.results import Damaged

PARQUET_MAGIC = b"PAR1"
BATCH_ROWS = 32_768
"""Operations in a batch: enough to amortize its fixed cost, few enough for memory."""

READERS = {PARQUET_MAGIC: "birthmark.data.traces.operations:OperationsTrace"}
"""Formats that are read here rather than in `birthmark_native`, by their first bytes.

The value is a module and its subclass of :class:`Trace`, imported when such a trace is opened.
"""

MARKED_FIRST = ("nfsdump", "operations")
"""Formats whose traces are marked as generated at the beginning; in others a row has the mark."""


@dataclass(frozen=True)
class Chunk:
    """What a trace gives at a time. All batches have rows.

    Attributes:
        operations: of `data.schema.OPERATIONS`.
        messages: those without a row, of `data.schema.MESSAGES`.
        loss: of `data.schema.LOSS`.
        gaps: times in which calls were lost, for :meth:`birthmark_native.LivesBuilder.update_loss`
            before these operations: ``server``, ``client``, ``since`` and ``until``.
        damaged: the records set aside.
    """

    operations: Sequence[pa.RecordBatch] = ()
    messages: Sequence[pa.RecordBatch] = ()
    loss: Sequence[pa.RecordBatch] = ()
    gaps: Sequence[pa.RecordBatch] = ()
    damaged: Sequence[Damaged] = ()

    @classmethod
    def of(cls, native: birthmark_native.Chunk) -> Chunk:
        """Return a chunk of the extension's."""
        messages = [
            pa.RecordBatch.from_arrays(batch.columns, schema=MESSAGES) for batch in native.messages
        ]
        return cls(native.operations, messages, native.loss, native.gaps, native.damaged)

    def rows(self) -> list[tuple[str, pa.RecordBatch]]:
        """Return the rows with the names of their tables."""
        tables = {"operations": self.operations, "messages": self.messages, "loss": self.loss}
        return [(table, batch) for table, batches in tables.items() for batch in batches]


class Trace:
    """A trace being read: iterate over it for the operations table, in record batches.

    Rows come in the order in which operations were completed, so roughly by ``reply_time``. A call
    without a reply comes a minute of the trace's time after it was made. Records with impossible
    times are damaged; if most are later than this host's clock, ``ValueError`` says so at the end.

    Attributes:
        path: the file, ``-`` for standard input.
        format: the format's word, such as ``nfsdump``, ``capture`` or ``operations`` (a Parquet
            file of the table itself).
        compression: ``none``, ``gzip``, ``bzip2``, ``xz`` or ``zstd``.
        generated: the mark of a generated trace (`data.generated`); where no comment or metadata
            holds it, once the first row is read.
        tells_loss: whether its chunks report losses.
    """

    generated: generated.Mark | None = None
    tells_loss = True

    def __init__(self, path: str) -> None:
        self.path = path
        self._native = birthmark_native.Trace(path)
        self.format: str = self._native.format
        self.compression: str = self._native.compression
        self.generated = generated.in_comment(self._native.heading)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.path}: {self.format}>"

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for chunk in self.chunks():
            yield from chunk.operations

    def chunks(self) -> Iterator[Chunk]:
        """Yield all that the trace holds: operations, and what they leave out."""
        while (native := self._native.next_chunk()) is not None:
            chunk = Chunk.of(native)
            for batch in chunk.operations:
                self.generated = self.generated or generated.in_operations(batch)
            yield chunk

    def counts(self) -> dict[str, Any]:
        """Return the counts, once the trace has ended (`birthmark_native.Trace.counts`)."""
        return self._native.counts()


def open_trace(path: str | Path) -> Trace:
    """Open a trace: nfsdump text, a packet capture, or operations in Parquet.

    Text and captures may be compressed by gzip, bzip2, xz or zstd; ``-`` is standard input.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is empty, or none of these formats.
    """
    name = str(path)
    if name != "-" and Path(name).is_file():
        with Path(name).open("rb") as file:
            first = file.read(max(map(len, READERS)))
        for magic, reader in READERS.items():
            if first.startswith(magic):
                trace: Trace = resolve_name(reader)(name)
                return trace
    return Trace(name)


def marks_of(path: str | Path) -> list[generated.Mark]:
    """Return the marks of a trace or a dataset before it is read.

    Standard input and other pipes have no marks: their data must not be consumed early.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is empty, or no trace.
    """
    if Path(path).is_dir():
        return generated.in_dataset(Path(path))
    if str(path) == "-" or not Path(path).is_file():
        return []
    trace = open_trace(path)
    if trace.format not in MARKED_FIRST:
        next(iter(trace), None)
    return [trace.generated] if trace.generated else []
