"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Something that is wrong: `what`, `where` it is so, and what to `do`."""

    what: str
    where: str
    do: str


@dataclass(frozen=True)
class Note:
    """Something that was not looked at, and why."""

    what: str


Finding = Fault | Note
