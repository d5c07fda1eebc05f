"""Traces into a dataset: decoded, joined, followed through lives, written, and counted."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.ingest.run import ingest as ingest
    from birthmark.data.ingest.summary import IngestSummary as IngestSummary

__getattr__, __all__ = offered(
    __name__,
    {
        "birthmark.data.ingest.run": ["ingest"],
        "birthmark.data.ingest.summary": ["IngestSummary"],
    },
)
