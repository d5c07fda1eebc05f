"""Phrases for the outcomes of predicates, to follow "it will be"."""

from __future__ import annotations

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
