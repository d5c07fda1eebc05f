"""Traces in: one reader for every format, and what is known of a trace before and after reading."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.traces.captures import write_capture
    from birthmark.data.traces.operations import DamagedTraceError, OperationsTrace
    from birthmark.data.traces.reader import Trace, marks_of, open_trace

_HOMES = {
    "DamagedTraceError": "birthmark.data.traces.operations",
    "OperationsTrace": "birthmark.data.traces.operations",
    "Trace": "birthmark.data.traces.reader",
    "marks_of": "birthmark.data.traces.reader",
    "open_trace": "birthmark.data.traces.reader",
    "write_capture": "birthmark.data.traces.captures",
}

__all__ = [
    "DamagedTraceError",
    "OperationsTrace",
    "Trace",
    "marks_of",
    "open_trace",
    "write_capture",
]

__getattr__ = offered(__name__, _HOMES)
