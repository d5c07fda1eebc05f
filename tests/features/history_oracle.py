"""A slow reference of `features.History` in plain Python: one event after the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyarrow as pa

Row = dict[str, Any]

SECOND = 1_000_000
MARKS = (SECOND, 5 * SECOND, 30 * SECOND)
YOUNG = 5 * SECOND
MEMORY = 10
NUMBER = re.compile(rb"(?=[0-9a-fA-F]*[0-9])[0-9a-fA-F]{4,}|[0-9]+")
HEXADECIMAL = re.compile(rb"(?=[a-fA-F]*[0-9])[0-9a-fA-F]*")
WORD = re.compile(rb"[A-Za-z0-9]+")


def shape(name: bytes) -> bytes:
    def folded(word: re.Match[bytes]) -> bytes:
        text = word[0]
        kinds = ["0" if chr(c).isdigit() else "A" if chr(c).isupper() else "a" for c in text]
        changes = sum(a != b for a, b in pairwise(kinds))
        if len(text) == 6 and changes >= 2 and not HEXADECIMAL.fullmatch(text):
            return b"@"
        return NUMBER.sub(b"#", text)

    return WORD.sub(folded, name)


def log(number: int) -> int:
    if number == 0:
        return 1
    doublings = number.bit_length() - 1
    return min(255, 2 + 4 * doublings + (number * 4 >> doublings) % 4)


def passed(since: int, until: int) -> int:
    return log(max(0, until - since) // 1000)


class Share:
    """A mean of the first outcomes, then a moving average, in 65,535ths."""

    def __init__(self) -> None:
        self.known, self.value = 0, 0

    def count(self, yes: bool) -> None:
        self.known = min(MEMORY, self.known + 1)
        step = (65_535 if yes else 0) - self.value
        self.value += step // self.known if step >= 0 else -(-step // self.known)

    def encoded(self) -> int:
        return 1 + self.value * 254 // 65_535 if self.known else 0


@dataclass
class Record:
    births: int = 0
    first_birth: int = 0
    last_birth: int = 0
    last_death: int | None = None
    life: int = 0
    size: int = 0
    write_only: int = 0
    shares: list[Share] = field(default_factory=lambda: [Share() for _ in range(8)])

    def encoded(self, at: int) -> list[int]:
        return [
            log(self.births),
            *(share.encoded() for share in self.shares),
            passed(self.last_birth, at) if self.births else 0,
            self.life,
            self.size,
            self.write_only,
            0 if self.last_death is None else passed(self.last_death, at),
            1 + self.shares[1].known,
            passed(self.first_birth, at) if self.births else 0,
        ]


def known(create: Row, at: int) -> Row:
    """Return a create as known at an earlier time."""
    seen = create["dir_named"]
    return create if seen is None or seen <= at else create | {"dir_name": None}


def keys_of(create: Row, previous: dict[Any, bytes]) -> list[Any]:
    """Return the keys of a create in their order; None if a part is unknown."""
    name, place, user = create["name"], create["dir_fh"], create["uid"]
    folded = None if name is None else shape(name)
    suffix = None if folded is None else folded.rpartition(b".")[2] if b"." in folded else b""
    above = None if create["dir_name"] is None else shape(create["dir_name"])
    caller = (create["client"], user)
    before = None if None in caller else previous.get(caller, b"no name")
    keys = [
        (place, name),
        (place, folded),
        (place, suffix),
        (place,),
        (name,),
        (folded,),
        (user, suffix),
        (above, suffix, user),
        caller,
        (before, folded),
        (create["mode"], suffix, user),
    ]
    return [None if None in key else (i, *key) for i, key in enumerate(keys)]


class Oracle:
    """Follows lives, given as rows."""

    def __init__(self) -> None:
        self.records: dict[Any, Record] = {}
        self.previous: dict[Any, bytes] = {}

    def follow(self, lives: pa.Table, behind: int = 0) -> list[bytes | None]:
        rows = _rows(lives)
        end = max((row["observed_until"] for row in rows), default=0)
        born = [i for i, row in enumerate(rows) if row["birth_seen"] and row["kind"] == "file"]
        order = ("born", "server", "dir_fh", "name", "fh")
        born.sort(key=lambda i: [_ordered(rows[i][column]) for column in order])
        events = []
        for place, i in enumerate(born):
            events.append((rows[i]["born"], place, -2, i, None))
            events.append((rows[i]["born"] + behind, place, -1, i, None))
            events += [(at + behind, place, what, i, fact) for at, what, fact in outcomes(rows[i])]
        events.sort(key=lambda event: event[:3])
        histories: list[bytes | None] = [None] * len(rows)
        keys: dict[int, list[Any]] = {}
        for time, _, what, i, fact in events:
            at = time - behind
            if what == -2:
                histories[i] = self.tell(
                    keys_of(known(rows[i], time - behind), self.previous), time
                )
            elif what == -1:
                keys[i] = keys_of(rows[i], self.previous)
                self.bear(rows[i], keys[i], at)
            elif at <= max(end, rows[born[-1]]["born"]):
                self.learn(keys[i], at, what, fact)
        return histories

    def tell(self, keys: list[Any], at: int) -> bytes:
        values: list[int] = []
        for key in keys:
            values += [0] * 16 if key is None else self.records.get(key, Record()).encoded(at)
        return bytes(values)

    def bear(self, row: Row, keys: list[Any], at: int) -> None:
        for key in keys:
            if key is not None:
                record = self.records.setdefault(key, Record())
                record.first_birth = record.first_birth if record.births else at
                record.births += 1
                record.last_birth = at
        if row["client"] is not None and row["uid"] is not None and row["name"] is not None:
            self.previous[row["client"], row["uid"]] = shape(row["name"])

    def learn(self, keys: list[Any], at: int, what: int, fact: Any) -> None:
        for key in keys:
            if key is None:
                continue
            record = self.records[key]
            if what < 3:
                record.shares[what].count(fact)
            elif what == 3:
                record.life, record.last_death = passed(0, fact), at
            else:
                size, write_only, read = fact
                if size is not None:
                    for share, most in zip(record.shares[3:6], (0, 16384, 65536), strict=True):
                        share.count(size <= most)
                    record.size = log(size)
                if write_only is not None:
                    record.shares[6].count(write_only)
                    record.write_only = 1 + write_only
                if read is not None:
                    record.shares[7].count(read)


def outcomes(row: Row) -> list[tuple[int, int, Any]]:
    """Return what becomes of a life: when it is known, which of the five it is, and what."""
    born, died = row["born"], row["died"]
    died = None if died is None else max(born, died)
    found: list[tuple[int, int, Any]] = []
    for what, mark in enumerate(MARKS):
        yes = died is not None and died - born <= mark
        found.append((died if yes else born + mark, what, yes))
    if died is not None:
        found.append((died, 3, died - born))
    young = born + YOUNG if died is None else min(died, born + YOUNG)
    if row["early"] is not None:
        found.append((young, 4, use(row["early"])))
    if died is not None and (row["early"] is None or died > young):
        found.append((died, 5, use(row)))
    return found


def use(row: Row) -> tuple[int | None, bool | None, bool | None]:
    reads, writes = row["reads"], row["writes"]
    write_only = None if None in (reads, writes) else reads * 5 < writes
    if writes == 0:
        read: bool | None = False
    else:
        times = (row["atime"], row["mtime"])
        read = None if None in times else times[0] > times[1]
    return row["size"], write_only, read


def _rows(lives: pa.Table) -> list[Row]:
    """Return rows of either table in the same terms; times are microseconds."""
    of_names = "file_writes" in lives.column_names
    sizes = ["size", "reads", "writes", "atime", "mtime"]
    last = {"size": "file_max_size", "writes": "file_writes"} if of_names else {"size": "max_size"}
    shared = (
        "server dir_fh name fh mode uid client kind birth_seen born died observed_until dir_name"
    )
    shared += " dir_named"
    columns = {}
    for column in (*shared.split(), *sizes, *(f"early_{size}" for size in sizes)):
        absent = of_names and (
            column in ("dir_name", "dir_named", *sizes) or column.startswith("early_")
        )
        if absent and column not in last:
            columns[column] = pa.nulls(len(lives))
        else:
            values = lives[last.get(column, column)]
            of_time = pa.types.is_timestamp(values.type)
            columns[column] = values.cast(pa.int64()) if of_time else values
    rows: list[Row] = pa.table(columns).to_pylist()
    for row in rows:
        row["early"] = None if of_names else {size: row[f"early_{size}"] for size in sizes}
    return rows


def _ordered(value: Any) -> tuple[bool, Any]:
    return (False, 0) if value is None else (True, value)
