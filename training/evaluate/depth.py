"""Depth of births in the tree of directories, as far as a trace shows it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Place = tuple[str, bytes]
"""A server and a directory's handle."""


def depths(lives: pa.Table, files: pa.Table) -> npt.NDArray[np.int64]:
    """Return the depth below the root of the directory of each of `lives`; -1 if unknown.

    `lives` are rows of a files or names table, or of `features.DIRECTORIES`; `files` is the files
    table with the directories' rows. A directory without a known parent is a top. The root of a
    server is the top above most of its lives; the depth below other tops is unknown. In the root
    the depth is 0.
    """
    places, of_row = _places(lives)
    parents = _parents(files)
    climbs = [_climb(place, parents) for place in places]
    number = np.bincount(of_row, minlength=len(places))
    roots = _roots(climbs, number)
    found = [steps if top is not None and roots.get(top[0]) == top else -1 for top, steps in climbs]
    return np.array([*found, -1])[of_row]


def _places(lives: pa.Table) -> tuple[list[Place | None], npt.NDArray[np.int64]]:
    """Return the distinct directories of births, and the index of each life's."""
    above = "dir_fh" if "dir_fh" in lives.column_names else "parent_fh"
    pairs = pa.table(
        {"server": pc.cast(lives["server"], pa.utf8()), "dir_fh": lives[above]}
    ).append_column("row", pa.array(np.arange(len(lives))))
    groups = pairs.group_by(["server", "dir_fh"], use_threads=False).aggregate([("row", "list")])
    of_row = np.empty(len(lives), np.int64)
    rows = groups["row_list"].combine_chunks()
    of_row[rows.values.to_numpy()] = np.repeat(np.arange(len(groups)), pc.list_value_length(rows))
    columns = (groups[name].to_pylist() for name in ("server", "dir_fh"))
    places = [None if fh is None else (server, fh) for server, fh in zip(*columns, strict=True)]
    return places, of_row


def _parents(files: pa.Table) -> dict[Place, Place]:
    """Return the first parent of each directory."""
    has_parent = pc.and_(pc.equal(files["kind"], "directory"), files["dir_fh"].is_valid())
    rows = files.filter(pc.fill_null(has_parent, False))
    servers = pc.cast(rows["server"], pa.utf8()).to_pylist()
    own, above = (zip(servers, rows[c].to_pylist(), strict=True) for c in ("fh", "dir_fh"))
    return dict(reversed(list(zip(own, above, strict=True))))


def _climb(place: Place | None, parents: dict[Place, Place]) -> tuple[Place | None, int]:
    """Return the top above a place and the steps to it; no top if the parents form a cycle."""
    if place is None:
        return None, 0
    passed = {place}
    while (above := parents.get(place)) is not None:
        if above in passed:
            return None, 0
        passed.add(above)
        place = above
    return place, len(passed) - 1


def _roots(
    climbs: list[tuple[Place | None, int]], number: npt.NDArray[np.int64]
) -> dict[str, Place]:
    below: Counter[Place] = Counter()
    for (top, _), lives in zip(climbs, number, strict=True):
        if top is not None:
            below[top] += int(lives)
    roots: dict[str, Place] = {}
    for top, _ in below.most_common():
        roots.setdefault(top[0], top)
    return roots
