"""Counts in words."""

from __future__ import annotations

import re


def counted(number: int, things: str) -> str:
    """Return a count of `things`, a plural of which it makes the singular for one of them.

    ``1 reply without call``, ``2,000 replies without call``: no other word may end in one *s*.
    """
    if number == 1:
        things = re.sub(r"(?<!s)s\b", "", re.sub(r"ies\b", "y", things))
    return f"{number:,} {things}"
