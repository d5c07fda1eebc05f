"""Datasets on disk: partitioned tables in Parquet, and a record of each ingest that wrote them."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.datasets.ingests import table_files as table_files
    from birthmark.data.datasets.tables import DatasetWriter as DatasetWriter
    from birthmark.data.datasets.tables import read_files as read_files
    from birthmark.data.datasets.tables import read_names as read_names
    from birthmark.data.datasets.tables import read_table as read_table
    from birthmark.data.datasets.text import as_text as as_text
    from birthmark.data.datasets.text import with_text as with_text

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.datasets.ingests": ["table_files"],
        "birthmark.data.datasets.tables": [
            "DatasetWriter",
            "read_files",
            "read_names",
            "read_table",
        ],
        "birthmark.data.datasets.text": ["as_text", "with_text"],
    },
)
