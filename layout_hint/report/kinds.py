"""Dimensions of a comparison: file systems, regions, policies."""

from __future__ import annotations

from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.replay.conditions import POLICIES

Kind = tuple[str, str | None]
"""A state and a mode; no mode if only Default was run."""


def kinds(comparison: Comparison) -> list[Kind]:
    """Return the kinds that were run, in order."""
    return [(state, mode) for state in comparison.states for mode in comparison.modes or (None,)]


def policies(comparison: Comparison) -> list[str]:
    """Return the policies that were run: those of the tables in their order, then the others."""
    found = dict.fromkeys(each.policy for each in comparison.results)
    return [each for each in POLICIES if each in found] + [
        each for each in found if each not in POLICIES
    ]


def words(comparison: Comparison, kind: Kind) -> str:
    """Return the subtitle of a table of that kind: trace, file system, region."""
    state, mode = kind
    size = f"{comparison.settings.region_length / 2**20:g} MB"
    inodes = comparison.settings.region_inodes
    region = f"{size} region" + (f" and {inodes:,} inodes" if inodes else "")
    region += f", mode {mode}" if mode else ""
    return f"{comparison.title}, {state} file system, {region}"
