"""The treatment of each column of the tables.

A column without a declared treatment cannot be written, so a new one is considered before it leaves
the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pyarrow as pa
import pyarrow.types as pt

Treatment = Literal[
    "keep",
    "name",
    "user",
    "group",
    "user_name",
    "group_name",
    "label",
    "host",
    "handle",
    "opaque",
    "line",
]

_MAPPED: dict[Treatment, str] = {
    # file names and paths
    "name": "name name2 target dir_name xattr entries.name",
    # numbers of users and groups
    "user": "uid owner set_owner dir_owner dir2_owner entries.owner",
    "group": "gid gids group set_group dir_group dir2_group entries.group",
    # users and groups by name
    "user_name": "owner_name set_owner_name dir_owner_name dir2_owner_name entries.owner_name",
    "group_name": "group_name set_group_name dir_group_name dir2_group_name entries.group_name",
    # machine names, and clients' comments
    "label": "machine tag",
    "host": "server client",
    # handles: a server may put a path or an owner into them
    "handle": "fh fh2 new_fh dir_fh entries.fh",
    # opaque bytes chosen by hosts: FreeBSD puts the client's address into a create verifier
    "opaque": (
        "cookie_verifier create_verifier reply_verifier state_owner session stateid reply_stateid"
    ),
    # whole lines of nfsdump text
    "line": "line call_text reply_text",
}

_UNCHANGED = """
time reply_time server_port client_port transport version xid op status retransmits
duplicate_replies short offset count begin_offset total_count max_count cookie stable how access
guard_ctime set_ftype set_rdev_major set_rdev_minor set_mode set_size set_atime set_atime_how
set_mtime set_mtime_how reply_count eof reply_stable reply_access
fs_total_bytes fs_free_bytes fs_available_bytes fs_total_files fs_free_files fs_available_files
fs_invariant_seconds fs_transfer_size fs_block_size fs_blocks fs_free_blocks fs_available_blocks
fs_read_max fs_read_preferred fs_read_multiple fs_write_max fs_write_preferred fs_write_multiple
fs_readdir_preferred fs_max_file_size fs_time_delta fs_properties fs_link_max fs_name_max
fs_no_trunc fs_chown_restricted fs_case_insensitive fs_case_preserving raw_status
kind how_born born birth_seen first_seen died death_seen how_died last_seen observed_until
operations reads writes bytes_read bytes_written max_size last_size loss_nearby
dir_named early_size early_reads early_writes early_atime early_mtime
file_writes file_max_size entries.cookie
reply program
calls replies unanswered orphans unseen holes missing_bytes lost fraction dropped unwatched
call_form call_con call_len reply_form reply_con reply_len
minor_version compound_index compound_status opcode client_id slot sequence open_claim share_access
share_deny open_flags delegation lock_type layout_type layout_mode stripe_unit last_offset length
offset2 reply_offset reply_length asked_attributes attributes_set set_umask dir_change_atomic
dir2_change_atomic fs_lease_time last_closed
model point create_time
"""

_ATTRIBUTES = """
ftype mode nlink size used rdev_major rdev_minor fsid fileid atime mtime ctime blksize blocks
pre_size pre_mtime pre_ctime fsid_minor mounted_fileid btime change pre_change
"""

COLUMNS: dict[str, Treatment] = {
    column: treatment for treatment, columns in _MAPPED.items() for column in columns.split()
}
"""The treatment of every column that may be written, by its name; in every table it is the same.
A field of the structures in a list is named after both, ``entries.name``."""

COLUMNS |= dict.fromkeys(_UNCHANGED.split(), "keep")
COLUMNS |= {
    prefix + column: "keep"
    for prefix in ("", "dir_", "dir2_", "entries.")
    for column in _ATTRIBUTES.split()
}

OMITTED: dict[Treatment, str] = {
    "name": "names",
    "label": "names",
    "user": "users",
    "user_name": "users",
    "group": "groups",
    "group_name": "groups",
}
"""The word of the settings' ``omit`` that leaves out columns of a treatment. Hosts cannot be
omitted: every row needs one, and an omitted column would be 0.
"""


def leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.Field]]:
    """Yield the columns of a schema that hold values, those in lists of structures as well."""
    for column in schema:
        kind = column.type.value_type if pt.is_list(column.type) else column.type
        if pt.is_struct(kind):
            yield from ((f"{column.name}.{child.name}", child) for child in kind)
        else:
            yield column.name, column


def treatments(schema: pa.Schema) -> dict[str, Treatment]:
    """Return the treatment of every column of a table.

    Raises ``ValueError``, naming the column, for one that has none.
    """
    names = [name for name, _ in leaves(schema)]
    undeclared = [name for name in names if name not in COLUMNS]
    if undeclared:
        raise ValueError(
            f"column {undeclared[0]}: expected its treatment in {__name__}, "
            "without which it cannot leave the site"
        )
    return {name: COLUMNS[name] for name in names}
