"""Traces and datasets out again, as nfsdump text."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.dump.tables import TablesDump
    from birthmark.data.dump.traces import Dump, TraceDump

_HOMES = {
    "Dump": "birthmark.data.dump.traces",
    "TablesDump": "birthmark.data.dump.tables",
    "TraceDump": "birthmark.data.dump.traces",
}

__all__ = [
    "Dump",
    "TablesDump",
    "TraceDump",
]

__getattr__ = offered(__name__, _HOMES)
