"""Counts in words."""

from __future__ import annotations

import re


def counted(number: int, things: str) -> str:
    """Return a count of `things`, given as a plural, in the singular if the number is one.

    ``1 reply without call``, ``2,000 replies without call``: no other word may end in a single *s*.
    """
    if number == 1:
        things = re.sub(r"(?<!s)s\b", "", re.sub(r"ies\b", "y", things))
    return f"{number:,} {things}"
