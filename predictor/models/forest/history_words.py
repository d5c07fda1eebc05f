"""Phrases for the bytes of a history."""

from __future__ import annotations

from birthmark.data.common.sizes import in_words
from birthmark.features.history import KEYS

_SHARES = {
    "share_1s": "lived at most 1 s",
    "share_5s": "lived at most 5 s",
    "share_30s": "lived at most 30 s",
    "share_empty": "were empty",
    "share_16k": "had at most 16 kB",
    "share_64k": "had at most 64 kB",
    "share_write_only": "were hardly read",
    "share_read": "were read after they were written",
}


def of_history(column: str, byte: int) -> str:
    """Return the phrase for ``byte`` in a column of a history (``features.history.STATISTICS``)."""
    key, _, statistic = column.partition(".")
    whose = KEYS[key]
    if not byte:
        return f"nothing is known of earlier files {whose}"
    if statistic in _SHARES:
        return f"{(byte - 1) / 254:.0%} of the latest files {whose} {_SHARES[statistic]}"
    if statistic == "known":
        return (
            f"of {'ten or more' if byte > 10 else byte - 1} earlier files {whose} the end is known"
        )
    if statistic == "write_only":
        return f"the latest file {whose} was {'hardly' if byte == 2 else 'often'} read"
    number = 0 if byte == 1 else round(2 ** ((byte - 2) // 4) * (1 + (byte - 2) % 4 / 4))
    if statistic == "size":
        return f"the latest file {whose} had {in_words(number)}"
    if statistic == "life":
        return f"the latest file {whose} lived {_seconds(number)}"
    if statistic == "since_birth":
        return f"the latest file {whose} was created {_seconds(number)} before"
    return f"{statistic.replace('_', ' ')} {number:,}, {whose}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.3g} s"
