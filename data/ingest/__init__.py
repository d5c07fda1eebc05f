"""Ingest traces into a dataset: decode, join, follow lives, write, and count."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.ingest.run import ingest as ingest
    from birthmark.data.ingest.summary import IngestSummary as IngestSummary

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.ingest.run": ["ingest"],
        "birthmark.data.ingest.summary": ["IngestSummary"],
    },
)
