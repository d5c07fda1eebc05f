"""Findings of checks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A fault: `what` it is, `where`, and what to `do`."""

    what: str
    where: str
    do: str


@dataclass(frozen=True)
class Note:
    """Something that was not examined, and why."""

    what: str


Finding = Fault | Note
