"""Datasets on disk: partitioned tables in Parquet, and a record of each ingest that wrote them."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.datasets.ingests import table_files
    from birthmark.data.datasets.tables import DatasetWriter, read_files, read_names, read_table

_HOMES = {
    "DatasetWriter": "birthmark.data.datasets.tables",
    "read_files": "birthmark.data.datasets.tables",
    "read_names": "birthmark.data.datasets.tables",
    "read_table": "birthmark.data.datasets.tables",
    "table_files": "birthmark.data.datasets.ingests",
}

__all__ = [
    "DatasetWriter",
    "read_files",
    "read_names",
    "read_table",
    "table_files",
]

__getattr__ = offered(__name__, _HOMES)
