"""A client's requests about each create of a day, at the moment the create's call appears."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Ints
from birthmark.data.datasets.tables import read_table
from birthmark.features import CREATES
from birthmark.features.history_scope import mask_history

Level = Literal["full", "no_directory", "bare"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""What an asker knows: all that the call tells; all but the directory; as little, of a service
that follows no traffic."""

MADE = ("create", "mknod", "open")
"""The operations that make files; ``create`` reports the birth of an ``open``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OF_A_BIRTH = ("server", "client", "born", "name", "dir_fh", "mode", "uid", "gid")
_CALL = 4
"""So many of these columns tell the call that made it; with the next they tell the birth."""


def read_operations(dataset: Path) -> pa.Table:
    """Return the operations of a dataset: when they were called and answered, and what they made.

    They are in the order of their replies; those without one are left out.
    """
    columns = ["time", "reply_time", "server", "client", "op", "status", "name"]
    found = read_table(dataset, "operations", columns)
    return found.filter(pc.is_valid(found["reply_time"])).sort_by("reply_time")


@dataclass(frozen=True)
class Questions:
    """The creates of a day, in the order of their calls.

    ``times`` are those of the calls, in microseconds since the epoch; ``full`` and ``bare`` the
    questions, as JSON, of who knows the directory's handle and of who does not. ``rows`` tells for
    the births of each subject, ``file`` and ``name``, which question is about each: one about a
    file is about its name, too.
    """

    times: Ints
    full: list[bytes]
    bare: list[bytes]
    rows: Mapping[str, Ints]

    def __len__(self) -> int:
        return len(self.times)

    def bodies(self, level: Level) -> list[bytes]:
        """Return the questions of who knows as much as ``level`` says."""
        return self.full if level == "full" else self.bare


def questions(operations: pa.Table, births: Mapping[str, pa.Table]) -> Questions:
    """Return the questions about the ``births`` of each subject.

    Raises ``ValueError`` where ``operations`` has no call that made what was born.
    """
    calls = dict(_calls(operations))
    known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    keys = {}
    for subject, lives in births.items():
        every = list(_rows(lives, _OF_A_BIRTH))
        keys[subject] = [row[: _CALL + 1] for row in every]
        for key, row in zip(keys[subject], every, strict=True):
            known.setdefault(key, row)
    missing = [key for key in known if key[:_CALL] not in calls]
    if missing:
        raise ValueError(f"expected a call for each birth, found none for {missing[0]}")
    order = sorted(known, key=lambda key: calls[key[:_CALL]])
    place = {key: number for number, key in enumerate(order)}
    times = [calls[key[:_CALL]] for key in order]
    asked = [_members(time, known[key]) for time, key in zip(times, order, strict=True)]
    return Questions(
        np.array(times, dtype=np.int64),
        [json.dumps(each).encode() for each in asked],
        [json.dumps(_without_directory(each)).encode() for each in asked],
        {
            subject: np.array([place[key] for key in own], dtype=np.int64)
            for subject, own in keys.items()
        },
    )


def created(lives: pa.Table) -> pa.ChunkedArray:
    """Return which rows of a files or names table a create made, not a link or a rename."""
    return pc.is_in(lives["how_born"].cast(pa.utf8()), pa.array(MADE))


def _calls(operations: pa.Table) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield what tells the births of each call, and when it was called."""
    succeeded = pc.equal(operations["status"], 0)
    made = pc.is_in(operations["op"].cast(pa.utf8()), pa.array(MADE))
    columns = ("server", "client", "reply_time", "name", "time")
    for *birth, time in _rows(operations.filter(pc.and_(succeeded, made)), columns):
        yield tuple(birth), time


def _rows(table: pa.Table, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table; times in microseconds since the epoch."""
    kinds = [table.schema.field(name).type for name in columns]
    plain = (
        table[name].cast(pa.int64()) if pa.types.is_timestamp(kind) else table[name]
        for name, kind in zip(columns, kinds, strict=True)
    )
    return zip(*(column.to_pylist() for column in plain), strict=True)


def _members(time: int, birth: tuple[Any, ...]) -> dict[str, Any]:
    """Return the members of a request about a create; unknown ones are left out."""
    _, client, _, name, directory, mode, uid, gid = birth
    try:
        named = {"name": name.decode()}
    except UnicodeDecodeError:
        named = {"name_base64": base64.b64encode(name).decode()}
    handle = None if directory is None else base64.b64encode(directory).decode()
    when = (_EPOCH + timedelta(microseconds=time)).isoformat()
    numbers = {"mode": mode, "uid": uid, "gid": gid}
    every = named | {"directory_handle": handle} | numbers | {"client": client, "time": when}
    return {member: value for member, value in every.items() if value is not None}


def _without_directory(members: Mapping[str, Any]) -> dict[str, Any]:
    return {member: value for member, value in members.items() if member != "directory_handle"}


def known_at(creates: pa.Table, level: Level) -> pa.Table:
    """Return ``features.CREATES`` masked to a level of history, in ``evaluate``'s format."""
    if level == "full":
        return creates
    if level == "no_directory":
        return mask_history(creates, "caller")
    # the asker knows who it asks for, though nothing that was seen of them
    place = CREATES.get_field_index("client")
    return mask_history(creates, "nothing").set_column(place, CREATES[place], creates["client"])
