"""The two tables of a build: the manifest of what must exist, and the rewritten trace.

A stable identifier (``id``) stands for one object's whole existence: a removed file and a later one
under the same handle have two. The root directory is 0. A caller is the user, group and further
groups of a call.
"""

from __future__ import annotations

import pyarrow as pa

from birthmark.data.schema import FTYPES, TIME, WORD, field

ROOT_ID = 0

MANIFEST = pa.schema(
    [
        field("id", pa.int64(), "stable identifier; several rows: hard links", nullable=False),
        field("parent", pa.int64(), "the directory that the name is in; 0: the root", False),
        field("name", pa.binary(), "the name in it", nullable=False),
        field("path", pa.binary(), "the path from the root, without a slash before it", False),
        field("invented", pa.bool_(), "whether the trace did not show the name", nullable=False),
        field("kind", WORD, "file, directory, symlink, fifo, socket, block or character", False),
        field("mode", pa.uint32(), "permission bits; null: none was seen"),
        field("owner", pa.uint32(), "owner; null: none was seen"),
        field("group", pa.uint32(), "group; null: none was seen"),
        field("size", pa.uint64(), "size, bytes; null: none was seen"),
        field("target", pa.binary(), "symlink: the path it holds; null: it was not read"),
        field("atime", TIME, "access time first seen"),
        field("mtime", TIME, "modification time first seen"),
    ]
)
"""The objects before the rewritten trace: a row per name, directories before their contents."""

OPERATIONS = pa.schema(
    [
        field("seq", pa.int64(), "place in the order of execution, from 0", nullable=False),
        field("time", TIME, "time of the call; inserted: of the operation that needs it", False),
        field("op", WORD, "the procedure, as in the operations table", nullable=False),
        field("status", pa.uint32(), "the status it must end with, 0: OK", nullable=False),
        field("inserted", WORD, "why it was added; null: it is an operation of the trace"),
        field("uid", pa.uint32(), "the caller's user; null: not known"),
        field("gid", pa.uint32(), "the caller's group; null: not known"),
        field("gids", pa.list_(pa.field("element", pa.uint32())), "the caller's further groups"),
        field("id", pa.int64(), "the object, or the directory of name", nullable=False),
        field("name", pa.binary(), "the name in that directory"),
        field("id2", pa.int64(), "the directory of name2; in link the directory of name"),
        field("name2", pa.binary(), "the second name, in rename"),
        field("new_id", pa.int64(), "the object found or made; inserted: made, moved or removed"),
        field("offset", pa.uint64(), "first byte to read, write or commit"),
        field("count", pa.uint32(), "bytes to read or write"),
        field("cookie", pa.uint64(), "readdir: where to go on"),
        field("how", pa.uint8(), "create: 0 unchecked, 1 guarded (the file must not exist)"),
        field("kind", WORD, "mknod: fifo, socket, block or character"),
        field("target", pa.binary(), "symlink: the path it holds"),
        field("mode", pa.uint32(), "mode to set; of a new object: the one the server gave it"),
        field("owner", pa.uint32(), "owner to set; of a new object: as the server had it"),
        field("group", pa.uint32(), "group to set; of a new object: as the server had it"),
        field("size", pa.uint64(), "size to set, bytes"),
        field("atime", TIME, "access time to set"),
        field("mtime", TIME, "modification time to set"),
        field("now", pa.uint8(), "times to set to the present: 1 access, 2 modification, 3 both"),
        field("reply_count", pa.uint32(), "read: bytes that the server returned"),
        field("reply_size", pa.uint64(), "the file's size in the reply, where it can be compared"),
    ]
)
"""The rewritten trace: an operation per row, in the order in which they are to be executed."""

KINDS = dict(enumerate(FTYPES, start=1))
"""Kinds of objects by the ``ftype`` of the operations table."""

MAKES = {"create": "file", "mkdir": "directory", "symlink": "symlink", "mknod": None}
"""Procedures that make an object, and its kind; `None`: any other kind."""

NAMED = {"lookup", "remove", "rmdir", "rename", "link", *MAKES}
"""Procedures on a name in a directory."""

SETTABLE = ("mode", "owner", "group", "size")
"""The attributes that calls set, except times."""

UNKNOWN_MODE = {"directory": 0o777, "file": 0o666}
"""The modes of objects whose modes the trace does not show: they permit everything."""
