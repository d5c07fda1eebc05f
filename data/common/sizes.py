"""Sizes in bytes, as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def in_words(count: int) -> str:
    """Return bytes as a size of at most one decimal, such as ``4 MB`` or ``1.5 GB``."""
    name = next((name for name in "TGMK" if count >= _UNITS[name]), "")
    return f"{count / _UNITS[name]:,.1f}".removesuffix(".0") + (f" {name}B" if name else " bytes")


def size(text: str) -> int:
    """Return the bytes of a size such as ``4M``, ``1.5G`` or ``4096``; a K is 1024 bytes.

    Raises:
        ValueError: it is not a size.
    """
    match = re.fullmatch(
        r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGT]?)(?:B|iB)?", text.strip(), re.IGNORECASE
    )
    if not match:
        raise ValueError(
            f"{text!r} is no size: expected bytes, or a number with K, M, G or T, as in 4M"
        )
    return round(float(match[1]) * _UNITS[match[2].upper()])
