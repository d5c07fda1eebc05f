"""The predicates of the thesis's Tables 6.4 to 6.8, by the names used there.

A ``k`` is 1024 bytes, an ``M`` 1024 ``k``. Lifespans are in seconds. An outcome is a phrase that
follows "it will be".
"""

from __future__ import annotations

from functools import partial

from birthmark.data.common.durations import SECOND
from birthmark.predictor.predicates import rules
from birthmark.predictor.predicates.predicate import Predicate, Rule, Subject
from birthmark.predictor.predicates.rules import Bounds

K = 1024
M = 1024 * K


def _sizes(bounds: Bounds) -> Rule:
    return partial(rules.in_ranges, size=bounds)


def _lifespans(above: int | None, at_most: int | None) -> Rule:
    bounds = (above and above * SECOND, at_most and at_most * SECOND)
    return partial(rules.in_ranges, lifespan=bounds)


# Name, description, rule; the tables' order.
_LOCK = (
    "lock",
    "created, never written into, and deleted within five seconds of creation",
    rules.lock,
)
_ZERO = ("size=zero", "the size was always zero", _sizes((None, 0)))
_SHORT_LIVES = [
    ("lifespan<=1", "lives for at most one second", _lifespans(None, 1)),
    ("lifespan<=5", "lives for at most five seconds", _lifespans(None, 5)),
    ("lifespan<=30", "lives for at most thirty seconds", _lifespans(None, 30)),
]
_AMTIME = [
    (
        "amtime<=0",
        "written, and at the most recent observation the access time is at or before the"
        " modification time",
        rules.written_after_read,
    ),
    (
        "amtime>0",
        "written, and at the most recent observation the access time is after the modification"
        " time",
        rules.read_after_write,
    ),
]
_FILES = [
    _LOCK,
    _ZERO,
    ("0<size<=16k", "not empty, and never more than 16 kB", _sizes((0, 16 * K))),
    ("0<size<=64k", "not empty, and never more than 64 kB", _sizes((0, 64 * K))),
    ("0<size<1M", "not empty, and always less than 1 MB", _sizes((0, M - 1))),
    ("size>16k", "grows to more than 16 kB", _sizes((16 * K, None))),
    ("size>64k", "grows to more than 64 kB", _sizes((64 * K, None))),
    ("size>1M", "grows to more than 1 MB", _sizes((M, None))),
    *_AMTIME,
    *_SHORT_LIVES,
    ("1<lifespan<=30", "lives for more than one second and at most thirty", _lifespans(1, 30)),
    ("lifespan>1", "lives for more than one second", _lifespans(1, None)),
    ("lifespan>5", "lives for more than five seconds", _lifespans(5, None)),
    ("write-only", "written into, with less than 0.2 reads to a write", rules.write_only),
    ("read-only", "written into, with more than 20 reads to a write", rules.read_only),
]
_NAMES = [_LOCK, _ZERO, *_SHORT_LIVES]

_DESCRIBED_IN_6_4 = {"lock", "amtime<=0", "amtime>0", "write-only", "read-only"}


def _registry(
    subject: Subject, table: str, rows: list[tuple[str, str, Rule]]
) -> dict[str, Predicate]:
    return {
        name: Predicate(
            name,
            subject,
            description,
            "thesis Table 6.4" if name in _DESCRIBED_IN_6_4 else f"thesis {table}",
            rule,
        )
        for name, description, rule in rows
    }


FILE_PREDICATES = _registry("file", "Table 6.5", _FILES)
"""The predicates about files (Tables 6.4 to 6.7), by name and in the tables' order."""

NAME_PREDICATES = _registry("name", "Table 6.8", _NAMES)
"""The predicates about the lives of names (Table 6.8), by name and in the table's order.

A name's life ends when it is removed, renamed or overwritten; the writes and the size that count
are its file's, from the file's birth to the name's end.
"""


_OUTCOMES = {
    "lock": "a lock",
    "size=zero": "empty",
    "0<size<=16k": "not empty, and at most 16 kB",
    "0<size<=64k": "not empty, and at most 64 kB",
    "0<size<1M": "not empty, and below 1 MB",
    "size>16k": "larger than 16 kB",
    "size>64k": "larger than 64 kB",
    "size>1M": "larger than 1 MB",
    "amtime<=0": "not read after it is written",
    "amtime>0": "read after it is written",
    "lifespan<=1": "gone within 1 s",
    "lifespan<=5": "gone within 5 s",
    "lifespan<=30": "gone within 30 s",
    "1<lifespan<=30": "gone after 1 s to 30 s",
    "lifespan>1": "there for more than 1 s",
    "lifespan>5": "there for more than 5 s",
    "write-only": "written and hardly read",
    "read-only": "read far more than written",
}


def outcome(key: str) -> str | None:
    """Return the phrase for a file, or a name, for which the predicate of ``key`` holds.

    ``None`` for predicates that have only a description.
    """
    return _OUTCOMES.get(key.removeprefix("name:"))
