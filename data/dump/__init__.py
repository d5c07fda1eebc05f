"""Print traces and datasets as nfsdump text."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.dump.tables import TablesDump as TablesDump
    from birthmark.data.dump.traces import Dump as Dump
    from birthmark.data.dump.traces import TraceDump as TraceDump

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.dump.tables": ["TablesDump"],
        "birthmark.data.dump.traces": ["Dump", "TraceDump"],
    },
)
