"""Stacks of optimizations, and the two that Hsu and Smith start from (Figure 2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from birthmark.layout_hint.disks.drive import Drive
from birthmark.research.native import storage_stack

Environment = Literal["poor", "rich"]
Rules = dict[str, Any]
"""Rules of a stack: see ``Rules`` in ``research/simulator/src/stack/rules.rs``.

The extra key ``open``: whether requests come without waiting for others.
"""

BLOCK = 4096
KB = 2
"""Sectors of a kilobyte."""

SAME = {"seek": 1.0, "rpm": 1.0, "linear": 1.0, "track": 1.0, "platters": 1.0}
"""The scale of an unchanged drive."""

MB = 1 << 20
NOTHING = "nothing"
UNIT = {"unit": 64 * KB}
AHEAD = {"ahead": 32 * KB}


def runs(segment_kb: int) -> Rules:
    """Return conditional sequential prefetching with segments of a size."""
    return {"runs": {"segment": segment_kb * KB, "trigger": 1, "factor": 2, "most": 256 * KB}}


def defaults(environment: Environment, storage: float, segment_kb: int, disks: int = 1) -> Rules:
    """Return the defaults of Figure 2.

    Args:
        environment: whether memory is short, or a share of the storage that is used.
        storage: the size of that share, bytes.
        segment_kb: of conditional sequential prefetching: 16 for personal systems, 8 for servers.
        disks: number of disks over which data are striped; they split the shares of the storage.
    """
    rich = environment == "rich"
    return {
        "disks": disks,
        "stripe_sectors": 2 * 1024 * KB,
        "cache_blocks": blocks(0.01 * storage / disks if rich else 8 * MB),
        "pool_blocks": blocks(8 * MB) if rich else 0,
        "prefetch": runs(segment_kb) if rich else AHEAD,
        "read_on_sectors": 128 * KB,
        "any_free": True,
        "just_in_time": False,
        "write_buffer": {
            "blocks": blocks(0.001 * storage / disks if rich else 4 * MB),
            "low": 0.2,
            "high": 0.8,
            "age_ms": 3_600_000 if rich else 30_000,
        },
        "order": {"aged": 0.01},
        "depth": 8,
    }


def blocks(size: float) -> int:
    """Return the number of blocks of 4 KiB in ``size`` bytes."""
    return max(round(size / BLOCK), 1)


def serve(
    shape: Mapping[str, Any],
    seed: int,
    drive: Drive,
    stacks: Sequence[tuple[Rules, Mapping[str, float]]],
) -> list[dict[str, Any]]:
    """Serve a load with stacks, each with the scale of its drive; return the figures of each.

    Raises:
        ValueError: a load, a drive or a stack cannot be; the message names what of it.
    """
    asked = {
        "shape": shape,
        "seed": seed,
        "drive": drive.parameters(),
        "runs": [_run(rules, scale) for rules, scale in stacks],
    }
    found: list[dict[str, Any]] = json.loads(storage_stack(json.dumps(asked)))
    return found


def _run(rules: Rules, scale: Mapping[str, float]) -> dict[str, Any]:
    own = {key: value for key, value in rules.items() if key != "open"}
    return {"rules": own, "scale": {**SAME, **scale}, "open": rules.get("open", False)}
