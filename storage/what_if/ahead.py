"""Policies of read-ahead by name, as people write them, and as the simulator takes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

Policy = Literal[
    "none",
    "default4",
    "slow_down",
    "cursors",
    "pool",
    "reorder",
    "always",
    "freebsd9",
    "linux",
    "zfetch",
    "zfetch_2_2",
]
"""Kind of read-ahead (storage/simulator/src/readahead)."""

Table = Annotated[str, Field(pattern=r"^(none|[1-9]\d{0,6}/[1-9]\d{0,3}(-lru)?)$")]
"""Where read patterns of files are stored: entries and probes of a table, with ``-lru`` evicting
the least recently, not the least often used; ``none``: with each file."""

_HEURISTICS: dict[str, str | dict[str, int]] = {
    "default4": "default4",
    "slow_down": "slow_down",
    "cursors": {"cursors": 8},
    "pool": {"pool": 1024},
    "reorder": {"reorder": 5_000_000},
    "always": "always",
    "freebsd9": {"free_bsd9": 16 << 10},
}
"""Eight cursors a file, 1,024 for all, a window of 5 ms, blocks of 16 KB."""

COUNTED = tuple(name for name in _HEURISTICS if name not in ("pool", "always"))
"""Heuristics that store state for each file in a table."""

_ZFETCH = {
    "streams": 8,
    "min_distance": 4 << 20,
    "max_distance": 64 << 20,
    "max_reorder": 16 << 20,
    "min_reap": 1_000_000_000,
}


def policy(name: Policy, table: str, most: int) -> str | dict[str, Any]:
    """Return a policy as the simulator takes it (storage/simulator/src/server/ahead.rs)."""
    if name == "none":
        return "none"
    if name == "linux":
        return {"linux": most}
    if name in ("zfetch", "zfetch_2_2"):
        return {"zfetch": _ZFETCH | ({"max_reorder": 0} if name == "zfetch_2_2" else {})}
    version = "v9" if name == "freebsd9" else "v4"
    return {"counted": {"heuristic": _HEURISTICS[name], "table": _table(table), "version": version}}


def _table(words: str) -> dict[str, Any] | None:
    if words == "none":
        return None
    size, _, rule = words.partition("-")
    entries, _, probes = size.partition("/")
    victim = "least_recently_used" if rule else "least_used"
    slots = {"scattered": 1}
    return {"entries": int(entries), "probes": int(probes), "slots": slots, "victim": victim}
