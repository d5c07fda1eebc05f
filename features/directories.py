"""The directories table: the attributes of each directory, and the births in it so far."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import TIME, field, filled

DIRECTORIES = pa.schema(
    [
        field("server", pa.utf8(), "the file server, as the trace writes it", nullable=False),
        field("fh", pa.binary(), "the directory's handle", nullable=False),
        field("name", pa.binary(), "its name"),
        field("parent_fh", pa.binary(), "the handle of the directory it is in"),
        field("parent_name", pa.binary(), "that directory's own name"),
        field("mode", pa.uint32(), "permission bits that its mkdir carried"),
        field("owner", pa.uint32(), "user that owned it at birth, or when first seen"),
        field("uid", pa.uint32(), "creating caller's user"),
        field("gid", pa.uint32(), "creating caller's group"),
        field("group", pa.uint32(), "group that the file system gave it"),
        field("client", pa.utf8(), "creating caller's host"),
        field("born", TIME, "when it was born or first seen, or a file was first born in it"),
        field("births", pa.int64(), "files born in it whose heat is known", nullable=False),
        field("hot_births", pa.int64(), "those of them that were hot", nullable=False),
    ]
)
"""One row per directory. Unknown values are null."""

_OWN = {
    "parent_fh": "dir_fh",
    "parent_name": "dir_name",
    **{c: c for c in ("server", "fh", "name", "mode", "owner", "uid", "gid", "group", "client")},
}


def directories_of(files: pa.Table, hot: pa.BooleanArray) -> pa.Table:
    """Return the ``DIRECTORIES`` of a files table: its directory rows, and its files' parents.

    ``hot`` has for each row of ``files`` whether it was a hot birth, null if it is no birth or
    unknown. A directory with several rows, as in a table of several days, becomes one row, as
    first seen.
    """
    both = pa.concat_tables([_seen(files), _parents(files, hot)])
    columns = [(f.name, _how(f.name)) for f in DIRECTORIES if f.name not in ("server", "fh")]
    rows = both.group_by(["server", "fh"], use_threads=False).aggregate(columns)
    return filled(rows.rename_columns({f"{c}_{how}": c for c, how in columns}), DIRECTORIES)


def seen_before(directories: pa.Table, before: pa.Table) -> pa.Table:
    """Return ``directories`` with the counts of births from ``before``.

    Both are tables of ``DIRECTORIES``. Directories missing in ``before`` have no births.
    """
    keys = [_keys(table) for table in (directories, before)]
    place = pc.index_in(keys[0], value_set=keys[1])
    for column in ("births", "hot_births"):
        counts = pc.fill_null(before[column].combine_chunks().take(place), 0)
        index = directories.schema.get_field_index(column)
        directories = directories.set_column(index, DIRECTORIES.field(column), counts)
    return directories


def _seen(files: pa.Table) -> pa.Table:
    own = files.filter(pc.equal(files["kind"], "directory"))
    nothing = pa.repeat(pa.scalar(0, pa.int64()), len(own))
    columns = {column: own[source] for column, source in _OWN.items()} | {
        "born": pc.coalesce(own["born"], own["first_seen"]),
        "births": nothing,
        "hot_births": nothing,
    }
    return filled(pa.table(columns), DIRECTORIES).sort_by("born")


def _parents(files: pa.Table, hot: pa.BooleanArray) -> pa.Table:
    known = pc.and_(hot.is_valid(), files["dir_fh"].combine_chunks().is_valid())
    born, hot = files.filter(known), hot.filter(known)
    columns = {
        "server": born["server"],
        "fh": born["dir_fh"],
        "name": born["dir_name"],
        "born": born["born"],
        "births": pa.repeat(pa.scalar(1, pa.int64()), len(born)),
        "hot_births": hot.cast(pa.int64()),
    }
    return filled(pa.table(columns), DIRECTORIES)


def _how(column: str) -> str:
    return {"births": "sum", "hot_births": "sum", "born": "min"}.get(column, "first")


def _keys(table: pa.Table) -> pa.Array:
    servers = table["server"].combine_chunks().cast(pa.binary())
    return pc.binary_join_element_wise(servers, table["fh"].combine_chunks(), b"\0")
