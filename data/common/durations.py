"""Durations, as people write them."""

from __future__ import annotations

import re

SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000
"""Microseconds."""

_UNITS = {"ms": 1_000, "s": SECOND, "m": 60 * SECOND, "h": HOUR, "d": DAY}


def duration(text: str) -> int:
    """Return the microseconds of a duration such as ``5m``, ``1.5h``, ``500ms`` or ``1d``.

    Raises:
        ValueError: it is not a duration, or not above zero.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    micros = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not 0 < micros < 1 << 62:
        raise ValueError(
            f"{text!r} is no duration: expected a number above zero with ms, s, m, h or d, as in 5m"
        )
    return micros
