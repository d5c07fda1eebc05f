"""Read traces: one reader for every format, and facts known before and after reading."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.traces.captures import write_capture as write_capture
    from birthmark.data.traces.operations import DamagedTraceError as DamagedTraceError
    from birthmark.data.traces.operations import OperationsTrace as OperationsTrace
    from birthmark.data.traces.reader import Trace as Trace
    from birthmark.data.traces.reader import marks_of as marks_of
    from birthmark.data.traces.reader import open_trace as open_trace

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.traces.captures": ["write_capture"],
        "birthmark.data.traces.operations": ["DamagedTraceError", "OperationsTrace"],
        "birthmark.data.traces.reader": ["Trace", "marks_of", "open_trace"],
    },
)
