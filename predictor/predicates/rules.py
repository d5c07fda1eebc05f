"""The rules of predicates, each over a whole table and with three answers.

They follow Kleene's logic: false and unknown is false.

- **Size** is the largest size seen ("the size of the file was always zero", thesis section 6.3.5).
  It is unknown only if no size was ever seen.
- **Lifespan** runs from birth to death, to the microsecond. Without a death the observed time is a
  lower bound: once it exceeds a bound, so does the lifespan; until then the answer is unknown.
  Without a birth it is unknown.
- **Reads and writes** are operations, not bytes.
- Sizes, reads, writes and times are those at the end of observation, with or without a death. Only
  in a table with the column ``GOES_ON`` (``predictor.heat.reconsider``) are they not final: there
  an answer is known only if no further life can change it.
- **Access and modification time** are those of the most recent observation, and unknown if either
  was never seen. For a file that was never written both predicates are false: in Tables 6.5 to 6.7
  the shares of the two predicates and of the files that were always empty add up to 99.73, 99.84
  and 100.00 percent.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import SECOND
from birthmark.predictor.predicates.predicate import Subject

GOES_ON = "goes_on"
"""A boolean column of lives so far: whether the life goes on, so that its counts can grow."""

Bounds = tuple[int | None, int | None]
"""An exclusive lower and an inclusive upper bound; ``None`` is no bound."""

_SIZE = {"file": "max_size", "name": "file_max_size"}
_WRITES = {"file": "writes", "name": "file_writes"}


def in_ranges(
    table: pa.Table, subject: Subject, size: Bounds = (None, None), lifespan: Bounds = (None, None)
) -> pa.Array:
    """Return whether size (bytes) and lifespan (microseconds) lie within their bounds."""

    def size_exceeds(bound: int) -> pa.Array:
        return _for_good(table, pc.greater(table[_SIZE[subject]], pa.scalar(bound, pa.uint64())))

    def lifespan_exceeds(bound: int) -> pa.Array:
        return _lifespan_exceeds(table, bound)

    return pc.and_kleene(
        _within(table, size_exceeds, size), _within(table, lifespan_exceeds, lifespan)
    )


def lock(table: pa.Table, subject: Subject) -> pa.Array:
    """Return whether a life had no writes and ended within five seconds."""
    unwritten = pc.invert(_for_good(table, pc.greater(table[_WRITES[subject]], 0)))
    return pc.and_kleene(unwritten, in_ranges(table, subject, lifespan=(None, 5 * SECOND)))


def write_only(table: pa.Table, subject: Subject) -> pa.Array:
    """Return whether a file was written, and its reads are less than 0.2 of its writes."""
    return _written_with_ratio(table, lambda ratio: pc.less(ratio, 0.2))


def read_only(table: pa.Table, subject: Subject) -> pa.Array:
    """Return whether a file was written, and its reads are more than 20 times its writes."""
    return _written_with_ratio(table, lambda ratio: pc.greater(ratio, 20.0))


def read_after_write(table: pa.Table, subject: Subject) -> pa.Array:
    """Return whether a file was written, and accessed after it was last modified."""
    later = pc.greater(table["atime"], table["mtime"])
    return _at_end(table, pc.and_kleene(_written(table), later))


def written_after_read(table: pa.Table, subject: Subject) -> pa.Array:
    """Return whether a file was written, and not accessed after it was last modified."""
    earlier = pc.less_equal(table["atime"], table["mtime"])
    return _at_end(table, pc.and_kleene(_written(table), earlier))


def _within(table: pa.Table, exceeds: Callable[[int], pa.Array], bounds: Bounds) -> pa.Array:
    above, at_most = bounds
    answers = pa.array([True] * len(table), pa.bool_())
    if above is not None:
        answers = exceeds(above)
    if at_most is not None:
        answers = pc.and_kleene(answers, pc.invert(exceeds(at_most)))
    return answers


def _lifespan_exceeds(table: pa.Table, bound: int) -> pa.Array:
    dead = table["death_seen"]
    end = pc.if_else(dead, table["died"], table["observed_until"])
    observed = pc.subtract(end, table["born"]).cast(pa.int64())
    unknown = pa.scalar(None, pa.bool_())
    exceeded = pc.greater(observed, bound)
    answers = pc.if_else(pc.or_(exceeded, dead), exceeded, unknown)
    return pc.if_else(table["birth_seen"], answers, unknown)


def _written(table: pa.Table) -> pa.Array:
    # uncounted writes count as written
    return pc.fill_null(pc.not_equal(table["writes"], 0), True)


def _written_with_ratio(table: pa.Table, holds: Callable[[pa.Array], pa.Array]) -> pa.Array:
    reads, writes = (table[column].cast(pa.float64()) for column in ("reads", "writes"))
    return _at_end(table, pc.and_(pc.greater(writes, 0.0), holds(pc.divide(reads, writes))))


def _for_good(table: pa.Table, exceeded: pa.Array) -> pa.Array:
    """Return ``exceeded``, with false made unknown in a life that goes on."""
    return exceeded if GOES_ON not in table.column_names else _at_end(table, exceeded, exceeded)


def _at_end(table: pa.Table, answers: pa.Array, final: pa.Array | bool = False) -> pa.Array:
    """Return ``answers``, unknown in a life that goes on unless ``final``."""
    if GOES_ON not in table.column_names:
        return answers
    decided = pc.or_kleene(pc.invert(table[GOES_ON]), final)
    return pc.if_else(decided, answers, pa.scalar(None, pa.bool_()))
