"""Parsing of a comparison's options."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TypeVar

from birthmark.data.common.durations import duration
from birthmark.data.common.sizes import size
from birthmark.layout_hint.comparison.compare import Plan, read_policies
from birthmark.layout_hint.replay.conditions import Settings
from birthmark.layout_hint.replay.days import Hours, read_dates
from birthmark.layout_hint.replay.region import DATA, first_inodes, geometry, region_start
from birthmark.layout_hint.settings import ALL, BOTH, KERNEL, MODES, STATES, Options

AGE = {"fill": 0.7, "rounds": 8}
"""Options of ageing: the fill level, and rounds of partly emptying and refilling."""

_Value = TypeVar("_Value")


def settings(options: Options) -> Settings:
    """Return the settings that all runs share; a missing warm-up is 0.

    Raises:
        ValueError: an option is invalid; the message begins with its name.
    """
    partition = _read("--partition", size, options.partition)
    length = _read("--region", size, options.region)
    sizes = geometry(options.geometry, partition, options.journal)
    start = _read(
        "--region-start", lambda text: region_start(text, length, sizes), options.region_start
    )
    inodes = options.region_inodes
    if inodes is None:
        of_data = options.region_start == DATA
        inodes = first_inodes(length, sizes.ipg, sizes.inode_bytes) if of_data else 0
    warmup = options.warmup
    return Settings(
        geometry=options.geometry,
        partition=partition,
        region_start=start,
        region_length=length,
        region_inodes=inodes,
        cache=_read("--cache", size, options.cache),
        warmup=_read("--warmup", duration, warmup) / 1e6 if warmup else 0.0,
        pace=options.pace,
        disk=options.disk,
        seeds=tuple(range(options.seed, options.seed + options.seeds)),
        age=None if options.state == "fresh" else AGE,
        journal=options.journal,
        allocator=None if options.allocator == KERNEL else options.allocator,
    )


def plan(options: Options) -> Plan:
    """Return the runs to make; errors as above."""
    return Plan(
        _read("--policies", read_policies, options.policies),
        tuple(each for each in MODES if options.mode in (each, ALL)),
        tuple(each for each in STATES if options.state in (each, BOTH)),
        options.nvram,
    )


def hours(options: Options) -> Hours:
    """Return the part of each day; errors as above."""
    return _read("--from, --to", lambda first: Hours.read(first, options.last), options.first)


def dates(options: Options) -> list[date] | None:
    """Return the requested days, None for all; errors as above."""
    return _read("--days", read_dates, options.days) if options.days else None


def _read(option: str, reader: Callable[[str], _Value], text: str) -> _Value:
    try:
        return reader(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
