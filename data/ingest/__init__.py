"""Traces into a dataset: decoded, joined, followed through lives, written, and counted."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.ingest.run import ingest
    from birthmark.data.ingest.summary import IngestSummary

_HOMES = {
    "IngestSummary": "birthmark.data.ingest.summary",
    "ingest": "birthmark.data.ingest.run",
}

__all__ = [
    "IngestSummary",
    "ingest",
]

__getattr__ = offered(__name__, _HOMES)
