"""Make the manifest of a build into real files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from birthmark.data.common.descriptors import closing
from birthmark.data.datasets import row_groups
from birthmark.layout_hint.rewrite.schema import MANIFEST, ROOT_ID, UNKNOWN_MODE
from birthmark.research.replay.attributes import own_mode
from birthmark.research.replay.perform import NODES
from birthmark.research.replay.store import Store, check_name


def make(manifest: Path, store: Store, real: bool) -> int:
    """Make everything that a manifest lists, and return the number of names.

    Files have the listed length but are sparse: they hold no data. Unknown modes permit everything:
    0777 for directories, 0666 otherwise. Without ``real`` (the superuser's rights) owners are not
    applied, and modes always give their owner access. Devices become FIFOs, so that none of this
    machine's are opened.

    Raises:
        ValueError: a row is not what a build writes.
        OSError: something cannot be made; the error names its path.
    """
    count = 0
    for row in _rows(manifest):
        where = f"{manifest}: row {count}"
        name = check_name(row["name"], where)
        if row["parent"] != ROOT_ID and not store.knows(row["parent"]):
            raise ValueError(f"{where}: expected the directory {row['parent']} before it")
        try:
            _make(row, name, store, real)
        except OSError as error:
            shown = os.fsdecode(row["path"])
            raise OSError(
                error.errno, f"{os.strerror(error.errno or 0)} (making {shown})"
            ) from None
        count += 1
    for row in reversed([row for row in _rows(manifest) if row["kind"] == "directory"]):
        above = store.directory(row["parent"])
        _set_attributes(row, row["name"], above, real)
    return count


def _rows(manifest: Path) -> Iterator[dict[str, Any]]:
    file = pq.ParquetFile(manifest)
    if not file.schema_arrow.equals(MANIFEST, check_metadata=False):
        raise ValueError(f"{manifest}: expected a manifest's columns, found others")
    for batch in row_groups.batches(file, 16_384):
        index = batch.schema.get_field_index
        for name in ("atime", "mtime"):
            micros = batch[name].cast("int64")
            batch = batch.set_column(index(name), name, micros)
        yield from batch.to_pylist()


def _make(row: dict[str, Any], name: bytes, store: Store, real: bool) -> None:
    above = store.directory(row["parent"])
    if store.knows(row["id"]):
        directory, old = store.place(row["id"])
        source = store.directory(directory)
        os.link(old, name, src_dir_fd=source, dst_dir_fd=above, follow_symlinks=False)
        store.link(row["id"], row["parent"], name)
        return
    _create(row, name, above)
    if row["kind"] != "directory":  # a directory's are set when it is filled
        _set_attributes(row, name, above, real)
    found = os.stat(name, dir_fd=above, follow_symlinks=False)
    store.add(row["id"], row["parent"], name, found)


def _create(row: dict[str, Any], name: bytes, above: int) -> None:
    kind = row["kind"]
    if kind == "directory":
        os.mkdir(name, 0o700, dir_fd=above)
    elif kind == "symlink":
        target = row["target"] or b"x" * min(row["size"] or 1, 4095)
        os.symlink(target, name, dir_fd=above)
    elif kind == "file":
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        with closing(os.open(name, flags, 0o600, dir_fd=above)) as descriptor:
            os.ftruncate(descriptor, row["size"] or 0)
    else:
        os.mknod(name, 0o600 | NODES.get(kind, stat.S_IFIFO), dir_fd=above)


def _set_attributes(row: dict[str, Any], name: bytes, above: int, real: bool) -> None:
    where: dict[str, Any] = {"dir_fd": above, "follow_symlinks": False}
    if real:
        os.chown(name, row["owner"] or 0, row["group"] or 0, **where)
    if row["kind"] != "symlink":
        unknown = UNKNOWN_MODE.get(row["kind"], UNKNOWN_MODE["file"])
        mode = unknown if row["mode"] is None else row["mode"]
        os.chmod(name, own_mode(mode, real, row["kind"] == "directory"), dir_fd=above)
    if row["atime"] is not None and row["mtime"] is not None:
        os.utime(name, ns=(row["atime"] * 1000, row["mtime"] * 1000), **where)
