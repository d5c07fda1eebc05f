"""The Arrow schemas of the tables that everything else is built on.

Every field carries its unit and meaning in its metadata under ``b"doc"``. File names and handles
are bytes: a name need not be UTF-8. Times are microseconds since the epoch, UTC. A value that the
trace did not show is null, never a guess.
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

from birthmark_native import operations_schema

TIME = pa.timestamp("us", tz="UTC")
WORD = pa.dictionary(pa.int32(), pa.utf8())

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

FIRST_US = -62_135_596_800_000_000
LAST_US = 253_402_300_799_999_999
"""The first and the last microsecond of the years 1 to 9999, UTC, since the epoch."""


def field(name: str, kind: pa.DataType, doc: str, nullable: bool = True) -> pa.Field:
    """Return an Arrow field with its meaning in the metadata."""
    return pa.field(name, kind, nullable=nullable, metadata={"doc": doc})


def filled(rows: Rows, schema: pa.Schema) -> Rows:
    """Return rows with the columns and types of ``schema``; missing columns are null."""
    there = set(rows.schema.names)
    columns = [
        rows[each.name] if each.name in there else pa.nulls(len(rows), each.type) for each in schema
    ]
    typed = [
        column if column.type == each.type else column.cast(each.type)
        for column, each in zip(columns, schema, strict=True)
    ]
    return type(rows).from_arrays(typed, schema=schema)


LOOKED_UP: dict[str, pa.DataType] = {
    "name": pa.large_binary(),
    "dir_fh": pa.large_binary(),
    "dir_name": pa.large_binary(),
    "mode": pa.uint32(),
    "uid": pa.uint32(),
    "client": pa.utf8(),
    "time": TIME,
}
"""The columns of creates that are used to look up earlier history, and their types."""

FTYPES = ("file", "directory", "block", "character", "symlink", "socket", "fifo")
"""File types by ``ftype``, which counts from 1."""


OPERATIONS = operations_schema()
"""One row per NFS call, in v4 per operation of a compound; its reply joined to it.

``native/trace/src/schema.rs`` declares the columns.
"""

ENTRY = OPERATIONS.field("entries").type.value_type
"""One entry of a directory listing: its name, fileid and cookie, and from readdirplus the rest."""

PEERS = [OPERATIONS.field(name) for name in ("server_port", "client", "client_port", "transport")]
"""The transport of a message between client and server."""

EARLY = "until it was 5 s old or dead"

LOSS_NEARBY = "whether lost messages may have touched this life; null: not known what was lost"

MESSAGES = pa.schema(
    [
        field("time", TIME, "time of the message", nullable=False),
        field("server", WORD, "the server, as the trace writes it", nullable=False),
        *PEERS,
        field(
            "kind",
            WORD,
            "retransmission, duplicate reply, reply without call, or other program",
            nullable=False,
        ),
        field("reply", pa.bool_(), "whether it is a reply", nullable=False),
        field("xid", pa.uint32(), "RPC transaction id", nullable=False),
        field("program", pa.uint32(), "number of the RPC program, where it is known and not NFS"),
        field("version", pa.uint8(), "version of NFS, where it is known"),
        field("op", WORD, "the procedure, as in operations, where it is known"),
        field("status", pa.uint32(), "NFS status of a reply, as in operations"),
        field(
            "line",
            pa.binary(),
            "its line of nfsdump text, without the newline; null: the format has no form for it",
        ),
    ]
)
"""One row per message that is neither the call nor the first reply of a row of operations."""

FILES = pa.schema(
    [
        field("server", WORD, "the file server, as the trace writes it", nullable=False),
        field("fh", pa.binary(), "the file's handle", nullable=False),
        field("name", pa.binary(), "the name it was born with, or the first one seen"),
        field("dir_fh", pa.binary(), "the handle of the directory of that name"),
        field("dir_name", pa.binary(), "that directory's own name, where it was known then"),
        field("dir_named", TIME, "when the directory was first seen to have that name"),
        field("kind", WORD, "file, directory, symlink, fifo, socket, block or character"),
        field("how_born", WORD, "create, mkdir, symlink or mknod; null: birth not seen"),
        field("born", TIME, "time of the reply that made it; null: birth not seen"),
        field("birth_seen", pa.bool_(), "whether the trace shows the birth", nullable=False),
        field("first_seen", TIME, "the first operation that named it", nullable=False),
        field("last_seen", TIME, "the last operation that named it", nullable=False),
        field("died", TIME, "time of the reply that removed its last name; null: not seen"),
        field("death_seen", pa.bool_(), "whether the trace shows the death", nullable=False),
        field("how_died", WORD, "remove, rmdir or rename (another file renamed over it)"),
        field(
            "observed_until",
            TIME,
            "died; else the end of that server's trace, or last_seen if the end was missed",
            nullable=False,
        ),
        field("mode", pa.uint32(), "permission bits that the create carried; EXCLUSIVE: null"),
        field("owner", pa.uint32(), "user that owned it at birth, or when first seen"),
        field("group", pa.uint32(), "group that the file system gave it, or had when first seen"),
        field("uid", pa.uint32(), "creating caller's user"),
        field("gid", pa.uint32(), "creating caller's group"),
        field("client", WORD, "creating caller's host"),
        field("operations", pa.uint64(), "successful operations that named it", nullable=False),
        field("reads", pa.uint64(), "successful reads", nullable=False),
        field("writes", pa.uint64(), "successful writes", nullable=False),
        field("bytes_read", pa.uint64(), "bytes that reads returned", nullable=False),
        field("bytes_written", pa.uint64(), "bytes that writes stored", nullable=False),
        field("max_size", pa.uint64(), "largest size seen, bytes"),
        field("last_size", pa.uint64(), "size last seen, bytes"),
        field("atime", TIME, "access time last seen"),
        field("mtime", TIME, "modification time last seen"),
        field("last_closed", TIME, "last v4 close of it; null: none seen (v2 and v3 have none)"),
        field("early_size", pa.uint64(), f"largest size seen {EARLY}, bytes"),
        field("early_reads", pa.uint32(), f"successful reads {EARLY}; null: birth not seen"),
        field("early_writes", pa.uint32(), f"successful writes {EARLY}; null: birth not seen"),
        field("early_atime", TIME, f"access time last seen {EARLY}"),
        field("early_mtime", TIME, f"modification time last seen {EARLY}"),
        field("loss_nearby", pa.bool_(), LOSS_NEARBY),
    ]
)
"""One row per file life (thesis 6.3.3: born, used, ended)."""

NAMES = pa.schema(
    [
        field("server", WORD, "the file server, as the trace writes it", nullable=False),
        field("dir_fh", pa.binary(), "the directory's handle", nullable=False),
        field("name", pa.binary(), "the entry's name", nullable=False),
        field("fh", pa.binary(), "the handle of what it names, where known"),
        field("kind", WORD, "what it names: file, directory, symlink, …"),
        field("how_born", WORD, "create, mkdir, symlink, mknod, link or rename; null: not seen"),
        field("born", TIME, "time of the reply that made the entry; null: not seen"),
        field(
            "birth_seen", pa.bool_(), "whether the trace shows the entry's birth", nullable=False
        ),
        field("first_seen", TIME, "the first operation that named it", nullable=False),
        field("died", TIME, "time of the reply that removed or renamed it; null: not seen"),
        field("death_seen", pa.bool_(), "whether the trace shows the entry's end", nullable=False),
        field("how_died", WORD, "remove, rmdir, rename (away) or overwritten (by a rename)"),
        field(
            "observed_until",
            TIME,
            "died; else the trace's end for that server, or when last known if the end was missed",
            nullable=False,
        ),
        field("mode", pa.uint32(), "permission bits that the create carried; else null"),
        field("uid", pa.uint32(), "user of the caller who made the entry"),
        field("gid", pa.uint32(), "group of the caller who made the entry"),
        field("client", WORD, "host of the caller who made the entry"),
        field("file_writes", pa.uint64(), "writes to the file, from its birth to this entry's end"),
        field("file_max_size", pa.uint64(), "the file's largest size in that time, bytes"),
        field("loss_nearby", pa.bool_(), LOSS_NEARBY),
    ]
)
"""One row per directory entry's life (thesis 6.3.5: a lock's names live apart from its inode)."""

LOSS = pa.schema(
    [
        field("time", TIME, "beginning of the period, of five minutes", nullable=False),
        field("server", WORD, "the file server, as the trace writes it", nullable=False),
        field("client", WORD, "the client, written likewise", nullable=False),
        field("calls", pa.uint64(), "operations whose call was seen", nullable=False),
        field("replies", pa.uint64(), "those whose reply was seen, too", nullable=False),
        field("unanswered", pa.uint64(), "calls whose reply was lost", nullable=False),
        field("orphans", pa.uint64(), "replies whose call was lost", nullable=False),
        field(
            "unseen",
            pa.uint64(),
            "operations of which neither was seen, by the numbers of the calls; null: the client"
            " does not count its calls",
        ),
        field("holes", pa.uint64(), "holes in TCP's sequence numbers", nullable=False),
        field("missing_bytes", pa.uint64(), "their bytes", nullable=False),
        field("lost", pa.float64(), "messages lost, by the estimate", nullable=False),
        field(
            "fraction",
            pa.float64(),
            "lost, of calls, replies, orphans and lost together",
            nullable=False,
        ),
        field(
            "dropped",
            pa.uint64(),
            "packets that the capture says the monitor's kernel dropped; only where server and"
            " client are `*`, since nobody knows whose they were",
        ),
        field(
            "unwatched",
            pa.uint64(),
            "for how long nobody watched from some time in the period on, microseconds; likewise",
        ),
    ]
)
"""One row per period, server and client: the losses of a monitor (thesis 3.5.4)."""
