"""The map of files: what was last seen of each, gathered while a scan goes on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.scan.tables import FILES
from birthmark_native import ScanCounter

WAITING = 200_000
"""So many files wait in memory before they go to the temporary file."""

AT_ONCE = 150_000
"""So many are put together at a time."""

KINDS = ["file", "directory", "block", "character", "symlink", "socket", "fifo"]
"""By ``ftype``, from 1."""


class FileMap:
    """Takes the files that a counter has seen; gives each once, with all that was last seen."""

    def __init__(self, counter: ScanCounter, folder: str) -> None:
        self._counter, self._folder = counter, folder
        self._writer: pq.ParquetWriter | None = None
        self._count = 0

    def __enter__(self) -> FileMap:
        self._file = tempfile.TemporaryFile(dir=self._folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
        except OSError:
            if error is None:
                raise
        finally:
            self._file.close()

    def take(self, wanted: bool, least: int = WAITING) -> None:
        """Take what was seen since the last time, if it is much."""
        if not wanted or self._counter.files < least:
            return
        table = pa.Table.from_batches([self._counter.take_files()])
        if self._writer is None:
            sink = pa.PythonFile(self._file, "w")
            self._writer = pq.ParquetWriter(sink, table.schema, compression="lz4")
        self._writer.write_table(table)
        self._count = max(self._count, pc.max(table["id"]).as_py() + 1)

    def finish(self) -> int:
        """Take the rest; return how many files there are."""
        self.take(True, least=1)
        if self._writer is not None:
            self._writer.close()
        seen = np.zeros(self._count, bool)
        for at in range(self._groups()):
            seen[self._group(at, ["id"])["id"].to_numpy()] = True
        return int(seen.sum())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the files (:data:`birthmark.data.scan.tables.FILES`), as often as asked."""
        if self._writer is None:
            return
        for start in range(0, self._count, AT_ONCE):
            yield from self._between(start, start + AT_ONCE).to_batches()
            pa.default_memory_pool().release_unused()

    def _between(self, start: int, end: int) -> pa.Table:
        """Return the files with these numbers, put together from all that was seen."""
        parts = []
        for group in range(self._groups()):
            ids = self._group(group, ["id"])["id"]
            here = pc.and_(pc.greater_equal(ids, start), pc.less(ids, end))
            if pc.any(here).as_py():
                parts.append(self._group(group).filter(here))
        if not parts:
            return FILES.empty_table()
        table = pa.concat_tables(parts)
        rest = [name for name in table.column_names if name != "id"]
        last = table.group_by("id", use_threads=False).aggregate([(n, "last") for n in rest])
        last = last.rename_columns(["id", *rest]).combine_chunks()
        paths = self._counter.paths(last["id"].combine_chunks())
        columns = {name: last[name] for name in rest} | {
            "path": paths["path"],
            "gone": paths["gone"],
            "kind": _kinds(last["ftype"]),
        }
        found = pa.table([columns[name] for name in FILES.names], FILES.names).cast(FILES)
        return found.sort_by("path")

    def _groups(self) -> int:
        if self._writer is None:
            return 0
        groups: int = self._read().num_row_groups
        return groups

    def _group(self, at: int, columns: list[str] | None = None) -> pa.Table:
        return self._read().read_row_group(at, columns)

    def _read(self) -> pq.ParquetFile:
        return pq.ParquetFile(pa.PythonFile(self._file, "r"))


def _kinds(ftypes: pa.ChunkedArray) -> pa.Array:
    """Return words for file types (RFC 1813, ftype3)."""
    places = pc.subtract(ftypes.cast(pa.int32()), 1)
    known = pc.and_(pc.greater_equal(places, 0), pc.less(places, len(KINDS)))
    return pc.take(pa.array(KINDS), pc.if_else(known, places, None))
