"""The attributes in replies: each object's state after the operations so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Ints
from birthmark.research.workloads.objects import Objects
from birthmark.research.workloads.rows import CREATE, LINK, NONE, READ, REMOVE, SETATTR, WRITE, Rows

SERVED = 40
"""Microseconds between the execution of an operation and its reply."""

_BITS = 42  # of a running maximum's value; what is left of an integer is for the group

_CHANGES = {
    "atime": (READ, CREATE, SETATTR),
    "mtime": (WRITE, CREATE, SETATTR),
    "ctime": (WRITE, CREATE, SETATTR, LINK, REMOVE),
}
"""The operations that set an object's times. Operations that make or remove an entry set a
directory's mtime and ctime.
"""

_ENTRY_CHANGES = (CREATE, LINK, REMOVE)


@dataclass(frozen=True)
class Shown:
    """Attributes after (and `pre_`: before) an operation, one array each, by row.

    `of` are the slots of the objects, 0 where `there` is false.
    """

    of: Ints
    there: Bools
    values: dict[str, Ints]


def follow(rows: Rows, objects: Objects) -> tuple[Shown, Shown]:
    """Apply operations, in the order of their replies, to `objects`.

    Returns the attributes of the rows' objects and of their directories.
    """
    count = len(rows)
    there = [rows[column] != NONE for column in ("obj", "dir")]
    row = np.concatenate([np.flatnonzero(each) for each in there])
    is_entry = np.repeat([False, True], [each.sum() for each in there])
    slot = np.where(is_entry, rows["dir"][row], rows["obj"][row]).astype(np.int64)
    order = np.argsort(slot * 2 * count + 2 * row + is_entry)
    row, is_entry, slot = row[order], is_entry[order], slot[order]
    values = _Groups(slot).values(rows[row], is_entry, objects)
    shown = []
    for entry, present in zip((False, True), there, strict=True):
        chosen = is_entry == entry
        places = row[chosen]
        spread = {name: _spread(each[chosen], places, count) for name, each in values.items()}
        shown.append(Shown(_spread(slot[chosen], places, count), present, spread))
    return shown[0], shown[1]


def _spread(values: Any, places: Ints, count: int) -> Ints:
    spread = np.zeros(count, np.int64)
    spread[places] = values
    return spread


class _Groups:
    """Runs of equal slots, in time order within each."""

    def __init__(self, slot: Ints) -> None:
        self.slot = slot
        self.first = np.append(True, slot[1:] != slot[:-1])[: len(slot)]
        self.last = np.append(self.first[1:], True)[: len(slot)]
        self.group = np.cumsum(self.first) - 1
        self.starts = np.flatnonzero(self.first)

    def values(self, rows: Rows, is_entry: Bools, objects: Objects) -> dict[str, Ints]:
        op = rows["op"]
        done = rows["status"] == 0
        now = rows["reply"] - SERVED
        entry = is_entry & done & np.isin(op, _ENTRY_CHANGES)
        found = {}
        for name, ops in _CHANGES.items():
            sets = ~is_entry & done & np.isin(op, ops)
            if name != "atime":
                sets |= entry
            found[name], found[f"pre_{name}"] = self._latest(objects.columns[name], now, sets)
        del found["pre_atime"]
        end = np.where(~is_entry & (op == WRITE), rows["offset"] + rows["count"], 0)
        found["size"], found["pre_size"] = self._greatest(objects.columns["size"], end)
        step = np.where(~is_entry & done, 1 * (op == LINK) - 1 * (op == REMOVE), 0)
        found["nlink"] = self._sum(objects.columns["nlink"], step)
        return found

    def _latest(self, column: Any, now: Ints, sets: Bools) -> tuple[Ints, Ints]:
        """Return the latest of the times that were set, after and before each row."""
        base = int(now.min()) - 1 if len(now) else 0
        reached = self._running(np.where(sets, now - base, 0))
        state = column[self.slot]
        after = np.where(reached > 0, base + reached, state)
        return self._carried(column, after, state)

    def _greatest(self, column: Any, ends: Ints) -> tuple[Ints, Ints]:
        state = column[self.slot]
        return self._carried(column, self._running(np.maximum(ends, state)), state)

    def _sum(self, column: Any, steps: Ints) -> Ints:
        total = np.cumsum(steps)
        before = (total - steps)[self.starts][self.group] if len(steps) else total
        after: Ints = column[self.slot] + total - before
        column[self.slot[self.last]] = after[self.last]
        return after

    def _running(self, values: Ints) -> Ints:
        """Return the running maximum within each group."""
        ranked = np.maximum.accumulate((self.group << _BITS) | values)
        reached: Ints = ranked & ((1 << _BITS) - 1)
        return reached

    def _carried(self, column: Any, after: Ints, state: Ints) -> tuple[Ints, Ints]:
        """Carry the last values of groups forward; return values after and before each row."""
        before = np.where(self.first, state, np.append(0, after[:-1])[: len(after)])
        column[self.slot[self.last]] = after[self.last]
        return after, before
