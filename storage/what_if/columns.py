"""What is told of every call that a simulated server is fed."""

from __future__ import annotations

import pyarrow as pa

CALLS = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "at": pa.uint64(),
            "replied": pa.uint64(),
            "stream": pa.uint32(),
            "connection": pa.uint32(),
            "class": pa.uint8(),
            "file": pa.uint32(),
            "target": pa.uint32(),
            "directory": pa.uint8(),
            "hints": pa.uint8(),
            "offset": pa.uint64(),
            "bytes": pa.uint32(),
            "end": pa.uint64(),
            "stable": pa.uint8(),
        }.items()
    ]
)
"""When it came and was answered (ns), of which caller and connection, what it asks for (a number of
`CLASSES`), of which file or directory, and which other one it finds, makes or removes (0: none),
whether that is a directory, and what hints say of it; the first byte, how many, how long the file
is then (of calls that set attributes: if they set it), and whether a write is stable."""

CLASSES = (
    *("getattr", "setattr", "lookup", "access", "read", "write"),
    *("commit", "create", "remove", "rename", "list", "other"),
)
"""What calls ask for. Those of a class take about as long."""

UNKNOWN = 2**64 - 1
"""For ``replied``: no reply was seen; for ``end``: the length is not known."""
