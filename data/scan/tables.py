"""The two tables of a scan, as Arrow schemas: operation counts, and the map of files.

Every field carries its unit and meaning in its metadata under ``b"doc"``.
"""

from __future__ import annotations

import pyarrow as pa

from birthmark.data.schema import TIME, field

KEYS = {
    "server": field("server", pa.utf8(), "the server", nullable=False),
    "client": field("client", pa.utf8(), "the client", nullable=False),
    "uid": field("uid", pa.uint32(), "the calling user; null: the call named none"),
    "gid": field("gid", pa.uint32(), "the calling group; null: the call named none"),
    "file": field(
        "file",
        pa.utf8(),
        "path, as last known a minute after the period, of the file found or made, else of the "
        "call's handle; ?/… if its directory is not known",
        nullable=False,
    ),
    "directory": field(
        "directory",
        pa.utf8(),
        "a directory above that file, or itself: an operation counts in every one; "
        "? holds all whose place is not known",
        nullable=False,
    ),
}
"""The keys that can distinguish rows, besides the period and the operation."""

WORDS = {"user": "uid", "group": "gid"}
"""Other words for keys."""

OTHER = "other"
"""The row of all operations without rows of their own."""

LATENCY = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("us", pa.uint64(), nullable=False),
                pa.field("ops", pa.uint64(), nullable=False),
            ]
        ),
        nullable=False,
    )
)

PERIOD = [
    field("time", TIME, "beginning of the period; a call's own time tells its period", False),
    field("seconds", pa.float64(), "length of the period", False),
]

_ROUNDED = "rounded up to the end of its bucket, by at most 1/32"

COUNTS = [
    field("op", pa.utf8(), "the operation; other: all that have no rows of their own", False),
    field("ops", pa.uint64(), "operations: calls, less those sent again", False),
    field("retransmits", pa.uint64(), "calls sent again", False),
    field("errors", pa.uint64(), "operations whose reply has a status other than OK", False),
    field("unanswered", pa.uint64(), "operations without a reply", False),
    field("bytes_read", pa.uint64(), "bytes that replies to read returned", False),
    field("bytes_written", pa.uint64(), "bytes that replies to write confirmed", False),
    field("latency_sum", pa.uint64(), "time from call to reply, summed, µs", False),
    field("latency_mean", pa.float64(), "its mean, µs; null: no reply"),
    field("latency_p50", pa.uint64(), f"its median, µs, {_ROUNDED}"),
    field("latency_p90", pa.uint64(), f"what 90% of replies did not exceed, µs, {_ROUNDED}"),
    field("latency_p99", pa.uint64(), f"what 99% of replies did not exceed, µs, {_ROUNDED}"),
    field("latency_max", pa.uint64(), "the longest, µs"),
    field(
        "latency",
        LATENCY,
        "its histogram, which can be added up: how many ops took us or more, and less than the "
        "next bucket, which begins at most 1/32 above",
        False,
    ),
]

GENERATED = "generated"
"""The column of a CSV that marks generated rows; real ones have none."""

FILES = pa.schema(
    [
        field("server", pa.utf8(), "the server", nullable=False),
        field("path", pa.utf8(), "its last known path; ?/… if its directory is not known", False),
        field("gone", pa.bool_(), "whether that name was removed, or given to another", False),
        field("fh", pa.binary(), "its handle", nullable=False),
        field("kind", pa.utf8(), "file, directory, symlink, …; null: not shown"),
        field("mode", pa.uint32(), "mode bits"),
        field("owner", pa.uint32(), "owner"),
        field("group", pa.uint32(), "group"),
        field("size", pa.uint64(), "size, bytes"),
        field("atime", TIME, "access time"),
        field("mtime", TIME, "modification time"),
        field("ctime", TIME, "change time"),
        field("seen", TIME, "when it was last named, or its attributes shown", nullable=False),
    ]
)
"""The map of files: a row per handle, with the last state seen."""


def counts_schema(by: list[str]) -> pa.Schema:
    """Return the schema of operation counts by the keys given, in the order of :data:`KEYS`."""
    return pa.schema([*PERIOD, *(KEYS[key] for key in by), *COUNTS])
