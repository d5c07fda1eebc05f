"""Hints for the files that are created in a dataset, for variants of their layout.

A model gives them as a file system's allocator would request them (docs/layout.md). Perfect
knowledge marks the files that are written most for their size, as the layout replay's oracle does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Ints
from birthmark.features import from_files
from birthmark.layout_hint.replay.conditions import DEFAULT, ORACLE, POLICIES
from birthmark.layout_hint.replay.hint_sources import oracle
from birthmark.layout_hint.replay.model_image import read_image
from birthmark.layout_hint.replay.region import Region
from birthmark.predictor.allocation.verdicts import RegionCapacity, verdicts
from birthmark.predictor.image.format import Image
from birthmark.storage.what_if.lives import Births, lives, micros

Policy = Literal["Default", "HotDir", "HotName", "HotDir+HotName", "all three", "oracle"]
"""Hints that a file system follows: those of a model, by name, or of perfect knowledge."""

REGION = 4 << 20
"""Default size of the hot region in bytes, as in the thesis."""

FOLLOWED = POLICIES | {ORACLE: 8}
"""The bits of hints that a policy follows: those of verdicts, and one of perfect knowledge."""

_BLOCK, _INODE, _INODES = 16 << 10, 128, 8
"""Bytes of a block of the file system and of an inode; one part of so many of a region is inodes
(storage/simulator/src/server/places.rs)."""
_COLUMNS = ["name", "dir_fh", "dir_name", "kind", "mode", "group", "uid", "gid", "client"]
_COLUMNS += ["died", "writes", "max_size"]


def births(dataset: Path, server: str, model: str | None, region: int) -> Births:
    """Return the files that are created in a dataset, with their hints.

    Raises:
        OSError: the model, a compiled image or a registry, cannot be read.
        ValueError: it is damaged or no model, or no file was made.
    """
    made = lives(dataset, server, "born", _COLUMNS)
    if not len(made):
        raise ValueError(f"{dataset}: expected files that were made in it, to hint at; found none")
    best = _bits(oracle(*_as_replayed(made, region)))
    found = np.where(best > 0, FOLLOWED[ORACLE], 0)
    if model is not None:
        room = RegionCapacity.of(region - region // _INODES, _BLOCK)
        asked = from_files(made)
        directory = pc.equal(made["kind"].cast(pa.utf8()), "directory")
        image = Image(read_image(model, room))
        found |= _bits(verdicts(image, asked.append_column("directory", directory)))
    return Births(micros(made["born"]), found)


def needs_model(policy: Policy) -> bool:
    """Return whether a policy follows a model."""
    return policy not in (DEFAULT, ORACLE)


def _bits(hints: pa.Array) -> Ints:
    return np.asarray(hints.fill_null(0)).astype(np.int64)


def _as_replayed(made: pa.Table, region: int) -> tuple[pa.Table, pa.Table, int, Region]:
    """Return the inputs of the layout replay's oracle: writes and sizes of files, and lives."""
    number = pa.array(np.arange(len(made)))
    size = pc.fill_null(made["max_size"], 0).to_numpy().astype(np.int64)
    objects = {"id": number, "place": number, "writes": made["writes"].cast(pa.int64())}
    objects["fragments"] = pa.array(-(-size // _BLOCK))
    times = {name: made[name].cast(pa.int64()) for name in ("born", "died")}
    inodes = region // _INODES
    room = Region(inodes // _INODE, (region - inodes) // _BLOCK)
    return pa.table(objects), pa.table({"id": number, **times}), len(made), room
