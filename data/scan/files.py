"""The map of files: the last state seen of each, gathered during a scan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.scan.scratch import Scratch
from birthmark.data.scan.tables import FILES
from birthmark.data.schema import FTYPES, filled
from birthmark_native import ScanCounter

WAITING = 200_000
"""Files held in memory before they go to the temporary file."""

AT_ONCE = 150_000
"""Files merged at a time."""


class FileMap(Scratch):
    """Takes the files that a counter has seen; gives each once, with its last known state."""

    def __init__(self, counter: ScanCounter, folder: str) -> None:
        super().__init__(counter.take_files().schema, folder)
        self._counter = counter
        self._count = 0

    def take(self, wanted: bool, least: int = WAITING) -> None:
        """Take the files seen since the last call, if there are many."""
        if not wanted or self._counter.files < least:
            return
        table = pa.Table.from_batches([self._counter.take_files()])
        self.writer.write_table(table)
        self._count = max(self._count, pc.max(table["id"]).as_py() + 1)

    def finish(self) -> int:
        """Take the rest; return how many files there are."""
        self.take(True, least=1)
        self.writer.close()
        seen = np.zeros(self._count, bool)
        for at in range(self.read().num_row_groups):
            seen[self._group(at, ["id"])["id"].to_numpy()] = True
        return int(seen.sum())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the files (:data:`birthmark.data.scan.tables.FILES`), as often as asked."""
        for start in range(0, self._count, AT_ONCE):
            yield from self._between(start, start + AT_ONCE).to_batches()
            pa.default_memory_pool().release_unused()

    def _between(self, start: int, end: int) -> pa.Table:
        """Return the files with these numbers, merged from all sightings."""
        parts = []
        for group in range(self.read().num_row_groups):
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
        found = {name: last[name] for name in rest} | {
            "path": paths["path"],
            "gone": paths["gone"],
            "kind": _kinds(last["ftype"]),
        }
        return filled(pa.table(found), FILES).sort_by("path")

    def _group(self, at: int, columns: list[str] | None = None) -> pa.Table:
        return self.read().read_row_group(at, columns)


def _kinds(ftypes: pa.ChunkedArray) -> pa.Array:
    """Return the names of file types (RFC 1813, ftype3)."""
    places = pc.subtract(ftypes.cast(pa.int32()), 1)
    known = pc.and_(pc.greater_equal(places, 0), pc.less(places, len(FTYPES)))
    return pc.take(pa.array(FTYPES), pc.if_else(known, places, None))
