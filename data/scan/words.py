"""Parse the words of commands: keys, operations and times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from birthmark.data.common.choices import expect
from birthmark.data.scan.tables import KEYS, OTHER, WORDS
from birthmark_native import OPS


def keys(text: str) -> list[str]:
    """Return the keys in a comma-separated list, in the order of the tables' columns.

    ``none`` names no key.

    Raises:
        ValueError: one is no key.
    """
    found = [] if text == "none" else [key(word) for word in text.split(",") if word]
    return [each for each in KEYS if each in found]


def key(word: str) -> str:
    """Return the column of a key, which may have a synonym.

    Raises:
        ValueError: it is no key.
    """
    expect("key", word, [*KEYS, *WORDS])
    return WORDS.get(word, word)


def operations(text: str) -> list[str] | None:
    """Return the operations in a comma-separated list; None for ``all``.

    Raises:
        ValueError: one is no operation.
    """
    if text == "all":
        return None
    found = [word for word in text.split(",") if word]
    for word in found:
        expect("operation", word, OPS)
    return found


def row(word: str) -> str:
    """Return a value of column ``op``: an operation, or ``other``; ``*`` matches any characters.

    Raises:
        ValueError: it is neither.
    """
    if "*" not in word:
        expect("operation", word, [*OPS, OTHER])
    return word


def time(text: str) -> int:
    """Return a time in microseconds since the epoch: ISO 8601 (UTC if no zone), or its seconds.

    Raises:
        ValueError: it is neither.
    """
    if re.fullmatch(r"\d+(\.\d+)?", text) and len(text) > 8:
        return round(float(text) * 1e6)
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{text!r} is no time: expected one like 2026-11-21T05:38:30, or seconds since 1970"
        ) from error
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1e6)


def numbers(text: str) -> list[int]:
    """Return the numbers of users or groups in a comma-separated list.

    Raises:
        ValueError: one is no number of 32 bits.
    """
    if not all(re.fullmatch(r"\d{1,10}", word) and int(word) < 1 << 32 for word in text.split(",")):
        raise ValueError(f"{text!r}: expected numbers of users or groups, as in 0,1001")
    return [int(word) for word in text.split(",")]


def zone(name: str) -> tzinfo:
    """Return a time zone.

    Raises:
        ValueError: the database of time zones does not have it.
    """
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            f"{name!r} is no time zone known here: expected one like Europe/Paris"
        ) from error
