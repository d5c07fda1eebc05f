"""Operations with only the values that matter, as rows and as lines."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from birthmark.data.schema import FTYPES, OPERATIONS, TIME, WORD, filled

Row = dict[str, Any]

DEFAULTS: Row = {"server": "s", "client": "c", "transport": "tcp"} | dict.fromkeys(
    ("server_port", "client_port", "xid", "retransmits", "duplicate_replies"), 0
)
GUARDED = 1  # createmode3, RFC 1813 section 3.3.8
FILE, DIRECTORY = 1, 2  # ftype3, RFC 1813 section 2.6
NOENT, ACCES, STALE = 2, 13, 70  # nfsstat3, RFC 1813 section 2.6

WORDS: dict[str, dict[str, int]] = {
    "how": {"unchecked": 0, "guarded": GUARDED, "exclusive": 2, "exclusive4_1": 3},
    "status": {"noent": NOENT, "acces": ACCES, "stale": STALE},
    "layout_type": {"files": 1, "objects": 2, "flexible": 4},  # RFC 8881 3.3.13 and RFC 8435
    "ftype": {word: n for n, word in enumerate(FTYPES, 1)},
}
"""The words for a column's numbers."""

VERSION_4 = ("open", "layoutget")
"""Operations that are not read without the index in their compound."""


def operations(*rows: Row) -> pa.Table:
    """Return a table of operations; `took` is µs, none: no reply."""
    full = []
    for row in rows:
        base = dict.fromkeys(OPERATIONS.names) | DEFAULTS
        base |= {"version": 3, "short": False, "time": 0, "status": 0} | row
        took = base.pop("took", 10)
        base["reply_time"] = None if took is None else base["time"] + took
        base["status"] = None if took is None else base["status"]
        full.append(base)
    return pa.Table.from_pylist(full, OPERATIONS)


def batch(*rows: Row) -> pa.RecordBatch:
    """Return operations of one client; times are seconds, and a reply takes a millisecond."""
    base = {**DEFAULTS, "server": "nfs", "client": "host", "version": 3, "short": False}
    full = [{**base, "status": 0, **row} for row in rows]
    for row in full:
        row.setdefault("reply_time", None if row["status"] is None else row["time"] + 0.001)
    names = sorted({name for row in full for name in row})
    return filled(pa.RecordBatch.from_arrays([_column(n, full) for n in names], names), OPERATIONS)


def _column(name: str, rows: list[Row]) -> pa.Array:
    kind, values = OPERATIONS.field(name).type, [row.get(name) for row in rows]
    if kind == TIME:
        values = [None if value is None else round(value * 1_000_000) for value in values]
    return pa.array(values, kind)


def op(procedure: str, time: float, fh: bytes, **more: object) -> Row:
    """Return an operation on a file."""
    return {"op": procedure, "time": time, "fh": fh, **more}


def create(time: float, name: bytes, fh: bytes | None, **more: object) -> Row:
    """Return a create in the directory ``dir``."""
    return op("create", time, b"dir", name=name, new_fh=fh, **more)


def lookup(time: float, name: bytes, fh: bytes | None, **more: object) -> Row:
    """Return a lookup in the directory ``dir``."""
    return op("lookup", time, b"dir", name=name, new_fh=fh, **more)


def remove(time: float, name: bytes, **more: object) -> Row:
    """Return a removal from the directory ``dir``."""
    return op("remove", time, b"dir", name=name, **more)


def rename(time: float, old: bytes, new: bytes, **more: object) -> Row:
    """Return a rename in the directory ``dir``."""
    return op("rename", time, b"dir", name=old, fh2=b"dir", name2=new, **more)


def parse_operations(lines: str) -> list[Row]:
    """Return the operations of lines, as `batch` takes them.

    A line is ``TIME OPERATION HANDLE/NAME [HANDLE/NAME] [COLUMN=VALUE …]``; the second handle is
    the new one, or with a name that of the second directory. A line without a time is the next
    operation of the same compound. ``entry NAME HANDLE`` adds an entry to the reply. A minus is a
    null, and as a status a call without a reply.
    """
    rows: list[Row] = []
    for line in lines.splitlines():
        first, *words = line.split()
        if first == "entry":
            name, fh, *values = words
            entry = {"name": _parse_bytes(name), "fh": _parse_bytes(fh)} | dict(
                map(_parse_value, values)
            )
            rows[-1].setdefault("entries", []).append(entry)
        elif first[0].isdigit():
            rows.append({"time": float(first)} | _parse_operation(*words))
        else:
            index = rows[-1].setdefault("compound_index", 0) + 1
            same = {"time": rows[-1]["time"], "compound_index": index}
            rows.append(_parse_operation(first, *words) | same)
    return rows


def _parse_operation(operation: str, *words: str) -> Row:
    row: Row = {"op": operation}
    if operation in VERSION_4:
        row["compound_index"] = 0
    for number, word in enumerate(word for word in words if "=" not in word):
        fh, slash, name = word.partition("/")
        row[("fh2" if slash else "new_fh") if number else "fh"] = _parse_bytes(fh)
        if slash:
            row["name2" if "name" in row else "name"] = _parse_bytes(name)
    return row | dict(_parse_value(word) for word in words if "=" in word)


def _parse_value(word: str) -> tuple[str, Any]:
    """Return the column of a word, and its value."""
    name, _, text = word.partition("=")
    kind = OPERATIONS.field(name).type
    if text == "-":
        return name, None
    if text in (words := WORDS.get(name.removeprefix("set_"), {})):
        return name, words[text]
    if kind == TIME:
        return name, float(text)
    if kind == pa.bool_():
        return name, text == "true"
    if kind == WORD:
        return name, text
    return name, _parse_bytes(text) if kind == pa.binary() else int(text, 0)


def _parse_bytes(text: str) -> bytes | None:
    return None if text == "-" else text.encode().decode("unicode_escape").encode("latin-1")


NAMING = ("lookup", "create", "remove", "rename", "link", "readdirplus")
OTHERS = ("getattr", "setattr", "read", "write", "mkdir", "symlink", "mknod", "rmdir", "null")


def anything(seed: int, count: int) -> list[Row]:
    """Operations of every kind, on few files and names, in random order."""
    chance = random.Random(seed)
    handles = [b"dir", *(b"F%d" % i for i in range(12))]
    names = [b"n%d" % i for i in range(8)]
    rows = []
    for i in range(count):
        maybe = [None, *handles]
        entry = {"name": chance.choice(names), "fh": chance.choice(maybe)}
        row = op(chance.choice(NAMING * 2 + OTHERS), i / 100, chance.choice(handles[:6]))
        row |= {"name": chance.choice(names), "name2": chance.choice(names)}
        row |= {"fh2": chance.choice(handles[:6]), "new_fh": chance.choice(maybe)}
        row |= {"reply_time": i / 100 + chance.choice([0.001, 0.05])}
        row |= {"server": chance.choice(["one", "two"]), "how": chance.choice([None, 0, 1, 2])}
        row |= {"status": chance.choice([0] * 12 + [None, NOENT, STALE, ACCES])}
        row |= {"nlink": chance.choice([None, 1, 2]), "size": chance.choice([None, 0, 9])}
        row |= {"ftype": chance.choice([None, None, FILE, DIRECTORY]), "entries": [entry]}
        row |= {"offset": chance.randrange(100), "count": chance.randrange(100)}
        rows.append(row)
    return sorted(rows, key=lambda row: row["reply_time"])
