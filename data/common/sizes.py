"""Sizes in bytes, as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Return the bytes of a size such as ``4M``, ``1.5G`` or ``4096``; a K is 1024 bytes.

    Raises:
        ValueError: it is none.
    """
    match = re.fullmatch(
        r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGT]?)(?:B|iB)?", text.strip(), re.IGNORECASE
    )
    if not match:
        raise ValueError(
            f"{text!r} is no size: expected bytes, or a number with K, M, G or T, as in 4M"
        )
    return round(float(match[1]) * _UNITS[match[2].upper()])
