"""The Arrow schemas of the tables that everything else is built on.

Every field carries its unit and meaning in its metadata under ``b"doc"``. File names and handles
are bytes: a name need not be UTF-8. Times are microseconds since the epoch, UTC. A value that the
trace did not show is null, never a guess.
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

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


VERSION_3 = [
    field(
        "ftype",
        pa.uint8(),
        "1 file, 2 directory, 3 block, 4 character, 5 symlink, 6 socket, 7 fifo; "
        "v4: 8 directory of named attributes, 9 named attribute",
    ),
    field("mode", pa.uint32(), "mode bits"),
    field("nlink", pa.uint32(), "links"),
    field("owner", pa.uint32(), "owner"),
    field("group", pa.uint32(), "group"),
    field("size", pa.uint64(), "size, bytes"),
    field("used", pa.uint64(), "space used, bytes"),
    field("rdev_major", pa.uint32(), "device: major number (v2: rdev)"),
    field("rdev_minor", pa.uint32(), "device: minor number"),
    field("fsid", pa.uint64(), "file system id"),
    field("fileid", pa.uint64(), "inode number"),
    field("atime", TIME, "access time"),
    field("mtime", TIME, "modification time"),
    field("ctime", TIME, "change time"),
]
"""Attributes of an object in a reply (RFC 1813 section 2.5)."""

ATTRIBUTES = [
    *VERSION_3,
    field("blksize", pa.uint32(), "v2: block size, bytes"),
    field("blocks", pa.uint32(), "v2: blocks of 512 bytes"),
    field("pre_size", pa.uint64(), "size before, bytes"),
    field("pre_mtime", TIME, "modification time before"),
    field("pre_ctime", TIME, "change time before"),
]
"""Also the attributes of version 2 (RFC 1094 section 2.3.5), and those before the operation."""


def attributes_of(prefix: str, whose: str) -> list[pa.Field]:
    """Return the attributes of another object, their names prefixed."""
    return [
        field(prefix + each.name, each.type, f"{whose}: {each.metadata[b'doc'].decode()}")
        for each in ATTRIBUTES
    ]


VERSION_4 = [
    field("minor_version", pa.uint32(), "v4: minor version"),
    field("compound_index", pa.uint32(), "v4: the operation's place in its compound, from 0"),
    field("compound_status", pa.uint32(), "v4: status of the whole compound"),
    field("opcode", pa.uint32(), "v4: the operation's number; null: a compound not taken apart"),
    field("tag", pa.binary(), "v4: the compound's tag; null: empty"),
    field("client_id", pa.uint64(), "v4: the client, as the server numbers it"),
    field("state_owner", pa.binary(), "v4: open or lock owner, or the client's own id"),
    field("session", pa.binary(), "v4.1: session"),
    field("slot", pa.uint32(), "v4.1 sequence: slot of the session"),
    field("sequence", pa.uint32(), "v4: sequence number of the owner, session or slot"),
    field("stateid", pa.binary(), "v4: state that the call names; copy, clone: the target's"),
    field("reply_stateid", pa.binary(), "v4: state that the reply gives"),
    field(
        "open_claim",
        pa.uint8(),
        "v4 open: 0 by name, 1 reclaimed, 2 and 3 by name with a delegation, "
        "4 by handle, 5 and 6 by handle with a delegation",
    ),
    field("share_access", pa.uint32(), "v4 open: 1 read, 2 write, 3 both; higher bits as sent"),
    field("share_deny", pa.uint32(), "v4 open: what others may not, as share_access"),
    field("open_flags", pa.uint32(), "v4 open: flags in the reply (2: confirm, 4: Posix locks)"),
    field(
        "delegation",
        pa.uint8(),
        "v4 open: delegation given, 0 none, 1 read, 2 write, 3 none with a reason",
    ),
    field("lock_type", pa.uint32(), "v4 lock: 1 read, 2 write; 3 and 4 the same, waiting"),
    field("layout_type", pa.uint32(), "v4.1 layouts: kind of layout or device"),
    field("layout_mode", pa.uint32(), "v4.1 layouts: 1 read, 2 read and write, 3 any"),
    field(
        "stripe_unit",
        pa.uint64(),
        "v4.1 layoutget: bytes of a stripe; of a file layout with flags in its lowest six bits "
        "(1 dense, 2 commit through the metadata server)",
    ),
    field("last_offset", pa.uint64(), "v4.1 layoutcommit: last byte written"),
    field("length", pa.uint64(), "v4: bytes from offset on that are locked, copied, allocated, …"),
    field("offset2", pa.uint64(), "v4.2 copy, clone: first byte of the source"),
    field("reply_offset", pa.uint64(), "v4: offset in the reply of seek or layoutget"),
    field("reply_length", pa.uint64(), "v4: bytes copied or written over, or of the layout given"),
    field("asked_attributes", pa.binary(), "v4: bit map of attributes asked for, words of 4 bytes"),
    field("attributes_set", pa.binary(), "v4: bit map of attributes that the reply says were set"),
    field("set_umask", pa.uint32(), "v4.2: umask to apply to set_mode"),
    field("set_owner_name", pa.binary(), "v4: owner that the call sets, where it is no number"),
    field("set_group_name", pa.binary(), "v4: group that the call sets, where it is no number"),
    field("owner_name", pa.binary(), "v4: owner, where it is no number: user@domain"),
    field("group_name", pa.binary(), "v4: group, where it is no number"),
    field("fsid_minor", pa.uint64(), "v4: file system id, second half"),
    field("mounted_fileid", pa.uint64(), "v4: inode number of the directory mounted on"),
    field("btime", TIME, "v4: time of creation"),
    field("change", pa.uint64(), "v4: the object's change attribute"),
    field("dir_change_atomic", pa.bool_(), "v4: whether the two that follow enclose only this"),
    field("dir_pre_change", pa.uint64(), "v4: the directory of name: change attribute before"),
    field("dir_change", pa.uint64(), "v4: the directory of name: change attribute after"),
    field("dir2_change_atomic", pa.bool_(), "v4: as dir_change_atomic"),
    field("dir2_pre_change", pa.uint64(), "v4: the directory of name2: change attribute before"),
    field("dir2_change", pa.uint64(), "v4: the directory of name2: change attribute after"),
    field("xattr", pa.binary(), "v4.2: name of an extended attribute"),
    field("fs_lease_time", pa.uint32(), "v4: lease time, seconds"),
]
"""Columns that only NFS version 4 has; null for other versions."""


def printed(prefix: str, which: str) -> list[pa.Field]:
    """Return the columns that record how a line of nfsdump text was printed; null for captures."""
    return [
        field(
            f"{prefix}_form",
            pa.uint16(),
            f"text: how the {which}'s line was printed, as bits (native/trace/src/form.rs)",
        ),
        field(f"{prefix}_con", pa.uint32(), f"text: the number con at the end of the {which}"),
        field(f"{prefix}_len", pa.uint32(), f"text: the number len at the end of the {which}"),
        field(
            f"{prefix}_text",
            pa.binary(),
            f"text: the {which}'s line itself, where the other columns do not give it",
        ),
    ]


ENTRY = pa.struct(
    [
        pa.field("name", pa.binary()),
        pa.field("fileid", pa.uint64()),
        pa.field("cookie", pa.uint64()),
        pa.field("fh", pa.binary()),
        *(pa.field(each.name, each.type) for each in VERSION_3 if each.name != "fileid"),
    ]
)
"""One entry of a directory listing: its name, fileid and cookie, and from readdirplus the rest."""

PEERS = [
    field("server_port", pa.uint16(), "its port", nullable=False),
    field("client", WORD, "the client, written likewise", nullable=False),
    field("client_port", pa.uint16(), "its port", nullable=False),
    field("transport", WORD, "udp or tcp", nullable=False),
]
"""The transport of a message between client and server."""

OPERATIONS = pa.schema(
    [
        field("time", TIME, "time of the call", nullable=False),
        field("reply_time", TIME, "time of the reply; null: none was seen"),
        field(
            "server",
            WORD,
            "the server, as the trace writes it: an address, or the number that stands for one",
            nullable=False,
        ),
        *PEERS,
        field("version", pa.uint8(), "version of NFS: 2, 3 or 4", nullable=False),
        field(
            "xid",
            pa.uint32(),
            "RPC transaction id; from nfsdump text as it is printed there",
            nullable=False,
        ),
        field(
            "op",
            WORD,
            "the procedure, or in v4 the operation: v3's name in lower case, readdirplus in full; "
            "v2 and v4 mapped to it where they mean the same",
            nullable=False,
        ),
        field(
            "status",
            pa.uint32(),
            "NFS status of the reply, 0: OK; null: none seen; 65536 and more: refused by RPC",
        ),
        field("retransmits", pa.uint32(), "how often the call was sent again", nullable=False),
        field(
            "duplicate_replies", pa.uint32(), "how often the reply was sent again", nullable=False
        ),
        field(
            "short",
            pa.bool_(),
            "whether the call or the reply was cut, damaged or encrypted, so that fields may be "
            "missing",
            nullable=False,
        ),
        field("uid", pa.uint32(), "the caller's effective user (AUTH_UNIX)"),
        field("gid", pa.uint32(), "the caller's effective group (AUTH_UNIX)"),
        field("machine", pa.binary(), "the caller's machine name (AUTH_UNIX)"),
        field("fh", pa.binary(), "handle of the file, or of the directory of name"),
        field("name", pa.binary(), "the name in that directory"),
        field(
            "fh2",
            pa.binary(),
            "second handle: the directory of name2; in link the directory of name; "
            "in copy and clone the source",
        ),
        field("name2", pa.binary(), "the second name, in rename"),
        field("new_fh", pa.binary(), "handle of the object found or made"),
        field("offset", pa.uint64(), "first byte to read, write or commit"),
        field("count", pa.uint32(), "bytes asked for; in readdirplus bytes of names (dircount)"),
        field("begin_offset", pa.uint32(), "v2 write: beginoffset"),
        field("total_count", pa.uint32(), "v2 read and write: totalcount"),
        field("max_count", pa.uint32(), "readdirplus: bytes of reply allowed"),
        field("cookie", pa.uint64(), "readdir: where to go on"),
        field("cookie_verifier", pa.binary(), "readdir: verifier of the cookie, in the call"),
        field("stable", pa.uint8(), "write: 0 unstable, 1 data sync, 2 file sync"),
        field(
            "how",
            pa.uint8(),
            "create, and open that creates: 0 unchecked, 1 guarded, 2 exclusive, "
            "3 exclusive with attributes (v4.1)",
        ),
        field("create_verifier", pa.binary(), "exclusive create: verifier"),
        field(
            "access",
            pa.uint32(),
            "access: bits asked for (1 read, 2 lookup, 4 modify, 8 extend, 16 delete, 32 execute)",
        ),
        field("target", pa.binary(), "symlink: the path it holds; readlink: the path returned"),
        field("guard_ctime", TIME, "setattr: only if this is the change time"),
        field("set_ftype", pa.uint8(), "mknod, and in v4 mkdir and symlink: file type, as ftype"),
        field("set_rdev_major", pa.uint32(), "mknod: major device number"),
        field("set_rdev_minor", pa.uint32(), "mknod: minor device number"),
        field("set_mode", pa.uint32(), "mode that the call sets; exclusive create carries none"),
        field("set_owner", pa.uint32(), "owner that the call sets"),
        field("set_group", pa.uint32(), "group that the call sets"),
        field("set_size", pa.uint64(), "size that the call sets, bytes"),
        field("set_atime", TIME, "access time that the call sets"),
        field(
            "set_atime_how", pa.uint8(), "1: to the server's time, 2: to set_atime; null: not set"
        ),
        field("set_mtime", TIME, "modification time that the call sets"),
        field(
            "set_mtime_how", pa.uint8(), "1: to the server's time, 2: to set_mtime; null: not set"
        ),
        field("reply_count", pa.uint32(), "bytes read or written"),
        field("eof", pa.bool_(), "read, readdir: whether the end was reached"),
        field("reply_stable", pa.uint8(), "write: how it was committed, as stable"),
        field("reply_verifier", pa.binary(), "write, commit, readdir: verifier in the reply"),
        field("reply_access", pa.uint32(), "access: bits granted"),
        *ATTRIBUTES,
        *attributes_of("dir_", "the directory of name"),
        *attributes_of("dir2_", "the directory of name2"),
        field("fs_total_bytes", pa.uint64(), "fsstat: tbytes"),
        field("fs_free_bytes", pa.uint64(), "fsstat: fbytes"),
        field("fs_available_bytes", pa.uint64(), "fsstat: abytes"),
        field("fs_total_files", pa.uint64(), "fsstat: tfiles"),
        field("fs_free_files", pa.uint64(), "fsstat: ffiles"),
        field("fs_available_files", pa.uint64(), "fsstat: afiles"),
        field("fs_invariant_seconds", pa.uint32(), "fsstat: invarsec, seconds"),
        field("fs_transfer_size", pa.uint32(), "v2 statfs: tsize, bytes"),
        field("fs_block_size", pa.uint32(), "v2 statfs: bsize, bytes"),
        field("fs_blocks", pa.uint32(), "v2 statfs: blocks"),
        field("fs_free_blocks", pa.uint32(), "v2 statfs: bfree"),
        field("fs_available_blocks", pa.uint32(), "v2 statfs: bavail"),
        field("fs_read_max", pa.uint32(), "fsinfo: rtmax, bytes"),
        field("fs_read_preferred", pa.uint32(), "fsinfo: rtpref, bytes"),
        field("fs_read_multiple", pa.uint32(), "fsinfo: rtmult, bytes"),
        field("fs_write_max", pa.uint32(), "fsinfo: wtmax, bytes"),
        field("fs_write_preferred", pa.uint32(), "fsinfo: wtpref, bytes"),
        field("fs_write_multiple", pa.uint32(), "fsinfo: wtmult, bytes"),
        field("fs_readdir_preferred", pa.uint32(), "fsinfo: dtpref, bytes"),
        field("fs_max_file_size", pa.uint64(), "fsinfo: maxfilesize, bytes"),
        field("fs_time_delta", pa.uint64(), "fsinfo: time_delta, nanoseconds"),
        field("fs_properties", pa.uint32(), "fsinfo: properties, bits"),
        field("fs_link_max", pa.uint32(), "pathconf: linkmax"),
        field("fs_name_max", pa.uint32(), "pathconf: name_max, bytes"),
        field("fs_no_trunc", pa.bool_(), "pathconf: no_trunc"),
        field("fs_chown_restricted", pa.bool_(), "pathconf: chown_restricted"),
        field("fs_case_insensitive", pa.bool_(), "pathconf: case_insensitive"),
        field("fs_case_preserving", pa.bool_(), "pathconf: case_preserving"),
        field(
            "raw_status", pa.uint32(), "v2 text: the word printed as nfsstat, where it is no status"
        ),
        *VERSION_4,
        *printed("call", "call"),
        *printed("reply", "reply"),
        field(
            "gids",
            pa.list_(pa.field("item", pa.uint32(), nullable=False)),
            "the caller's further groups (AUTH_UNIX)",
        ),
        field(
            "entries",
            pa.list_(pa.field("item", ENTRY, nullable=False)),
            "readdir and readdirplus: the entries; layoutget: the handles of data servers, in fh, "
            "each with the number of its mirror in cookie",
        ),
    ]
)
"""One row per NFS call, in v4 per operation of a compound; its reply joined to it."""

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
