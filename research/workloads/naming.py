"""Names of created files, from patterns such as ``#pico{n}`` or ``.inbox.lock.{n}.{host}``.

``{n}`` is a number of six digits, ``{x}`` eight hexadecimal digits, ``{w}`` a pronounceable word:
none of them recurs before many others. ``{user}`` and ``{host}`` are the login name of the
creating user and the name of the creating host.
"""

from __future__ import annotations

from collections.abc import Sequence

_SYLLABLES = [onset + vowel for onset in "bcdfghklmnprstvw" for vowel in "aeio"]  # 64


def number(serial: int) -> str:
    """Return six digits, the same for no two of a million consecutive serial numbers."""
    return f"{serial * 387_419 % 1_000_000:06d}"


def hexadecimal(serial: int) -> str:
    """Return eight digits, the same for no two of 2³² consecutive serial numbers."""
    return f"{serial * 2_654_435_761 % 2**32:08X}"


def word(serial: int) -> str:
    """Return a word of four syllables, the same for no two of 2²⁴ consecutive serial numbers."""
    mixed = serial * 10_368_889 % 2**24
    return "".join(_SYLLABLES[mixed >> shift & 63] for shift in (18, 12, 6, 0))


def names(
    pattern: str, serials: Sequence[int], users: Sequence[str], hosts: Sequence[str]
) -> list[bytes]:
    """Return a name for each serial number."""
    return [
        pattern.format(
            n=number(serial), x=hexadecimal(serial), w=word(serial), user=user, host=host
        ).encode()
        for serial, user, host in zip(serials, users, hosts, strict=True)
    ]
