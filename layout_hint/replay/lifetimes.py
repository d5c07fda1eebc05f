"""Lifetimes of a build's objects, in operations."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.layout_hint.replay.days import MANIFEST, OPERATIONS

Name = tuple[int, bytes]

_COLUMNS = ["seq", "op", "id", "name", "id2", "name2", "new_id"]
_MAKE = ("create", "mkdir", "symlink", "mknod")
_REMOVE = ("remove", "rmdir")


class _Names:
    """Mapping from names to objects."""

    def __init__(self) -> None:
        self._object: dict[Name, int] = {}
        self._links: dict[int, int] = {}
        self.died: dict[int, int] = {}

    def add(self, name: Name, number: int, seq: int) -> None:
        """Let a name lead to an object, instead of its former one."""
        if self._object.get(name) != number:
            self.remove(name, seq)
            self._object[name] = number
            self._links[number] = self._links.get(number, 0) + 1

    def remove(self, name: Name, seq: int) -> None:
        """Remove a name; an object without a name is dead."""
        number = self._object.pop(name, None)
        if number is not None:
            self._links[number] -= 1
            if not self._links[number]:
                self.died[number] = seq

    def move(self, name: Name, to: Name, seq: int) -> None:
        """Rename an object."""
        number = self._object.get(name)
        if number is not None and self._object.get(to) != number:
            self.add(to, number, seq)
            self.remove(name, seq)


def lifetimes(build: Path) -> pa.Table:
    """Return a row per object: ``id``, and the operations (``seq``) of its birth and death.

    Objects of the manifest have no ``born``, and objects that survive no ``died``.
    """
    names = _Names()
    manifest = pq.read_table(build / MANIFEST, columns=["id", "parent", "name"])
    for number, parent, name in zip(*(c.to_pylist() for c in manifest.columns), strict=True):
        names.add((parent, name), number, -1)
    born: dict[int, int | None] = dict.fromkeys(manifest["id"].to_pylist())
    wanted = pc.field("op").isin([*_MAKE, *_REMOVE, "rename", "link"]) & (pc.field("status") == 0)
    operations = pq.read_table(build / OPERATIONS, columns=_COLUMNS, filters=wanted)
    for seq, op, number, name, number2, name2, made in zip(
        *(column.to_pylist() for column in operations.columns), strict=True
    ):
        if op in _MAKE:
            if made is not None and made not in born:
                born[made] = seq
                names.add((number, name), made, seq)
        elif op in _REMOVE:
            names.remove((number, name), seq)
        elif op == "rename":
            names.move((number, name), (number2, name2), seq)
        else:
            names.add((number2, name), number, seq)
    numbers = list(born)
    columns = {"id": numbers, "born": born.values(), "died": map(names.died.get, numbers)}
    return pa.table({name: pa.array(each, pa.int64()) for name, each in columns.items()})
