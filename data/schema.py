"""The three tables that everything else is built on, as Arrow schemas.

Every field carries its unit and meaning in its metadata under ``b"doc"``. File names and handles
are bytes: a name need not be UTF-8. Times are microseconds since the epoch, UTC. A value that the
trace did not show is null, never a guess.
"""

from __future__ import annotations

import pyarrow as pa

TIME = pa.timestamp("us", tz="UTC")
WORD = pa.dictionary(pa.int32(), pa.utf8())


def field(name: str, kind: pa.DataType, doc: str, nullable: bool = True) -> pa.Field:
    """Return an Arrow field whose metadata says what it means."""
    return pa.field(name, kind, nullable=nullable, metadata={"doc": doc})


FILES = pa.schema(
    [
        field("server", WORD, "the file server, as the trace writes it", nullable=False),
        field("fh", pa.binary(), "the file's handle", nullable=False),
        field("name", pa.binary(), "the name it was born with, or the first one seen"),
        field("dir_fh", pa.binary(), "the handle of the directory of that name"),
        field("dir_name", pa.binary(), "that directory's own name, where it was known then"),
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
            "died, or where no death was seen the end of the server's trace: a lower bound",
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
        field("loss_nearby", pa.bool_(), "whether lost messages may have touched this life"),
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
        field("birth_seen", pa.bool_(), "whether the trace shows the entry's birth", nullable=False),
        field("first_seen", TIME, "the first operation that named it", nullable=False),
        field("died", TIME, "time of the reply that removed or renamed it; null: not seen"),
        field("death_seen", pa.bool_(), "whether the trace shows the entry's end", nullable=False),
        field("how_died", WORD, "remove, rmdir, rename (away) or overwritten (by a rename)"),
        field(
            "observed_until",
            TIME,
            "died, or where no end was seen the end of the server's trace: a lower bound",
            nullable=False,
        ),
        field("mode", pa.uint32(), "permission bits that the create carried; else null"),
        field("uid", pa.uint32(), "user of the caller who made the entry"),
        field("gid", pa.uint32(), "group of the caller who made the entry"),
        field("client", WORD, "host of the caller who made the entry"),
        field("file_writes", pa.uint64(), "writes to the file, from its birth to this entry's end"),
        field("file_max_size", pa.uint64(), "the file's largest size in that time, bytes"),
    ]
)
"""One row per directory entry's life (thesis 6.3.5: a lock's names live apart from its inode)."""
