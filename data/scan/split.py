"""Select rows: the function of ``ns_split`` (thesis 3.6.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.outputs import write
from birthmark.data.scan.words import key, row

_PATHS = ("file", "directory")
_NUMBERS = ("uid", "gid")


@dataclass(frozen=True)
class Condition:
    """A condition: a key has one of some values.

    Attributes:
        key: a key of the table, or ``op``.
        values: as text; in a path and a host ``*`` stands for any characters, and an empty text for
            an unknown user or group.
    """

    key: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read ``KEY=VALUE,VALUE…``; a path is one value, commas and all.

        Raises:
            ValueError: it is not of this form.
        """
        word, equals, rest = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: expected KEY=VALUE, as in client=10.0.0.1 or user=0")
        name = word if word == "op" else key(word)
        values = (rest,) if name in _PATHS else tuple(rest.split(","))
        if name == "op":
            values = tuple(map(row, values))
        if name in _NUMBERS and not all(re.fullmatch(r"\d*", value) for value in values):
            raise ValueError(f"{text!r}: expected numbers of users or groups")
        return cls(name, values)

    def holds(self, batch: pa.RecordBatch) -> pa.Array:
        """Return for each row whether the condition holds."""
        column = pc.fill_null(batch[self.key].cast(pa.utf8()), "")
        patterns = (re.escape(value).replace(r"\*", ".*") for value in self.values)
        return pc.match_substring_regex(column, rf"(?s)^({'|'.join(patterns)})$")


@dataclass(frozen=True)
class Rows:
    """A selection of rows.

    Attributes:
        keep: conditions; a row needs one true condition for every key that they name.
        drop: conditions; a row with any of them true is dropped.
        since: drop rows of periods that begin before this time, µs.
        until: drop rows of periods that begin at this time or later, µs.
    """

    keep: Sequence[Condition] = ()
    drop: Sequence[Condition] = ()
    since: int | None = None
    until: int | None = None

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the selected rows of a batch."""
        time = batch["time"].cast(pa.int64())
        chosen = pc.greater_equal(time, -(1 << 63) if self.since is None else self.since)
        if self.until is not None:
            chosen = pc.and_(chosen, pc.less(time, self.until))
        for name in dict.fromkeys(condition.key for condition in self.keep):
            alternatives = [each.holds(batch) for each in self.keep if each.key == name]
            chosen = pc.and_(chosen, reduce(pc.or_, alternatives))
        for condition in self.drop:
            chosen = pc.and_(chosen, pc.invert(condition.holds(batch)))
        return batch.filter(chosen)


def split(table: CountsTable, out: str, rows: Rows) -> None:
    """Write some rows of a table.

    Raises:
        ValueError: the table has no such key.
    """
    table.need(condition.key for condition in (*rows.keep, *rows.drop) if condition.key != "op")

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.batches():
            yield rows.of(batch)

    write(out, table.schema, batches)
