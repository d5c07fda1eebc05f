"""Anonymized tables of a dataset, made from another dataset or from traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.anonymize.columns import OMITTED, leaves, treatments
from birthmark.data.anonymize.settings import Settings
from birthmark.data.datasets import row_groups
from birthmark.data.datasets.ingests import table_files
from birthmark.data.datasets.tables import TABLES, DatasetWriter, with_server
from birthmark.data.ingest.lives import take_finished, update
from birthmark.data.schema import filled
from birthmark.data.traces.inputs import TraceOrderCheck
from birthmark.data.traces.reader import Trace
from birthmark_native import LivesBuilder, Mapping

BATCH_ROWS = 32_768
"""Rows read at a time: large enough to amortize a batch's fixed cost, small enough for memory."""


Progress = Callable[[str, int], None]


class TableWriter:
    """Maps rows on their way into a dataset.

    A table whose columns are omitted, as the names table without names, is left out as a whole.
    """

    def __init__(self, dataset: DatasetWriter, mapping: Mapping, settings: Settings) -> None:
        self._dataset, self._mapping = dataset, mapping
        self._treatments = {
            table: treatments(schema)
            for table, schema in TABLES.items()
            if _is_possible(schema, settings)
        }
        self.rows: Counter[str] = Counter()

    def write(self, rows: Iterable[tuple[str, pa.RecordBatch]]) -> None:
        """Add rows to their tables."""
        for table, batch in rows:
            if table in self._treatments and batch.num_rows:
                mapped = self._mapping.batch(batch, self._treatments[table])
                self._dataset.write(table, _with_docs(mapped, TABLES[table]))
                self.rows[table] += batch.num_rows

    def add_trace(
        self, trace: Trace, lives: LivesBuilder, beginnings: TraceOrderCheck, progress: Progress
    ) -> None:
        """Add a trace's operations, and the lives that end in it; leave out damaged records."""
        rows = 0
        lives.set_losses_known(trace.tells_loss)
        for chunk in beginnings.of(trace):
            update(lives, chunk)
            self.write([*chunk.rows(), *take_finished(lives)])
            rows += sum(map(len, chunk.operations))
            progress(trace.path, rows)

    def add_dataset(self, directory: Path, progress: Progress) -> int:
        """Add the tables of a dataset, and return how many rows it has.

        Its quarantine and ingest records are left out: they may hold anything.
        """
        rows = 0
        for table, batch in _batches(directory):
            self.write([(table, batch)])
            rows += batch.num_rows
            progress(str(directory), rows)
        return rows


def _is_possible(schema: pa.Schema, settings: Settings) -> bool:
    declared = treatments(schema)
    return all(
        field.nullable or OMITTED.get(declared[name]) not in settings.omit
        for name, field in leaves(schema)
    )


def _with_docs(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _batches(directory: Path) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield all rows of a dataset's tables, with columns that are newer than a file filled in."""
    for table, schema in TABLES.items():
        for path in table_files(directory, table):
            with pq.ParquetFile(path) as file:
                for batch in row_groups.batches(file, BATCH_ROWS):
                    yield table, filled(with_server(batch, path), schema)
