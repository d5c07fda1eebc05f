"""The compiled part of Birthmark. See ``native/`` for its source."""

from typing import Any

import pyarrow as pa

from data.traces import Damaged

__version__: str

class LivesBuilder:
    """Makes the files and names tables from operations (``data.lives`` says by which rules).

    About ``max_live`` lives, of files and of names together, are kept in memory; the others wait
    in a temporary file (in the folder that ``TMPDIR`` names) until an operation names them.
    """

    def __init__(self, max_live: int = 200_000) -> None: ...
    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations (``data.schema.OPERATIONS``), in about the order of their replies.

        Raises ``ValueError``, naming the column, if one is missing, of another type, or null where
        every row must have a value; and if the trace was ended before. Raises ``OSError`` if the
        temporary file cannot be used.
        """

    def finish(self) -> None:
        """End the trace: lives that are left become rows, with no death seen."""

    def take_files(self) -> pa.RecordBatch:
        """Return the file lives that have ended since the last call (``data.schema.FILES``).

        After :meth:`finish` a call returns some of the lives that were left; a batch of no rows
        says that there are no more.
        """

    def take_names(self) -> pa.RecordBatch:
        """Return name lives (``data.schema.NAMES``) as :meth:`take_files` returns file lives."""

def name_components(name: bytes, prefix: bool) -> list[bytes]:
    """Return the set of components of a file name (thesis Figure 6.2).

    Each is a regular expression: the whole name, its first and last piece, the pieces between
    them in byte order, and with ``prefix`` the first five bytes of a longer name.
    """

def count_components(names: pa.Array, labels: pa.Array, prefix: bool) -> pa.RecordBatch:
    """Count the components of a column of names (steps 1a to 1c of thesis Figure 6.3).

    ``names`` is binary and ``labels`` boolean, equally long; rows in which either is null are left
    out. The batch has ``component`` (binary, in byte order), ``n_a`` and ``n_m`` (uint64): in how
    many names it occurs, and in how many of those whose label is true.
    """

def match_components(names: pa.Array, rules: pa.Array, prefix: bool) -> pa.Array:
    """Return for each name the index (int32) of the first rule among its components, else null.

    ``names`` and ``rules`` are binary; a rule is a component as ``name_components`` writes it,
    and anything else raises ``ValueError``.
    """

class Trace:
    """A trace file decoded in a thread of its own (``data.traces`` is its Python face)."""

    format: str  # nfsdump or capture
    compression: str  # none, gzip, bzip2, xz or zstd

    def __init__(self, path: str) -> None:
        """Open a file, or standard input for ``-``.

        Raises ``OSError`` if it cannot be opened and ``ValueError`` if it is empty or no trace.
        """

    def next_batch(self) -> pa.RecordBatch | None:
        """Return the next rows of the operations table, or ``None`` at the end of the trace.

        A batch may be empty, where damaged records wait to be taken.
        """

    def take_damaged(self) -> list[Damaged]:
        """Return the records that were set aside since the last time."""

    def counts(self) -> dict[str, Any]:
        """Return what was counted. Raises ``RuntimeError`` before the end of the trace.

        ``procedures`` (by ``op``: ``calls``, ``replies``, ``ok``, ``errors``, ``operations``,
        ``unanswered``), ``orphans`` (by procedure), ``other_programs`` (calls and replies by RPC
        program), ``retransmits``, ``duplicate_replies``, ``short``, ``period`` (µs), ``damaged``
        (by reason), ``records``, ``bytes``; for text ``lines`` and ``comments``, for captures
        ``capture``.
        """

def operations_schema() -> pa.Schema:
    """Return the schema of the operations table (``data.schema.OPERATIONS``)."""

class ScanCounter:
    """Counts operations per period and keys (``data.scan`` is its Python face).

    Attributes:
        columns: the columns of the operations table that it needs.
        rows: how many rows wait to be taken.
        again: whether a period came more than once, so that rows must be merged.
        files: how many files wait to be taken.
    """

    columns: list[str]
    rows: int
    again: bool
    files: int

    def __init__(
        self,
        period: int,
        by: list[str],
        ops: list[str] | None = None,
        files: bool = False,
        clients: set[str] | None = None,
        uids: set[int] | None = None,
        gids: set[int] | None = None,
    ) -> None:
        """Count in periods of so many µs, by keys (``data.scan.tables.KEYS``).

        ``ops`` have rows of their own (all, if ``None``); ``files`` says whether to keep the map
        of files; of ``clients``, ``uids`` and ``gids`` only those listed are counted.
        """

    def update(self, batch: pa.RecordBatch) -> None:
        """Take operations, in about the order of their replies.

        Raises ``ValueError``, naming the column, if one is missing or of another type.
        """

    def finish(self) -> None:
        """End the trace: all periods have passed."""

    def take(self) -> pa.RecordBatch:
        """Return the rows of the periods that have passed since the last time."""

    def take_files(self) -> pa.RecordBatch:
        """Return the files seen since the last time, with their numbers (``id``)."""

    def paths(self, ids: pa.Array) -> pa.RecordBatch:
        """Return ``path``, the last known, and ``gone`` of files, by their numbers (uint32)."""

class ScanMerger:
    """Adds up rows of a scan's table, by keys and in periods of ``period`` µs from ``origin``."""

    def __init__(self, period: int, by: list[str], origin: int) -> None: ...
    def update(self, batch: pa.RecordBatch) -> None:
        """Take rows (``data.scan.counts_schema``), which may have further keys."""

    def close(self, time: int) -> None:
        """Make rows of the periods that end no later than ``time``, µs."""

    def take(self) -> pa.RecordBatch:
        """Return the rows made since the last time."""
