"""Positives of hints to a file system, and the share of a day's block writes that they cover.

    python -m benchmarks.hints --train DAY... --test DAY [--kinds rules able name forest]
                               [--points bounded accurate] [--json OUT]

A day is an ingested dataset. A hint image is made of models of the training days, and asked of
every file and directory of the test day, those that were there before included. Of that day's
writes those count that would reach a disk: one per block of 4 KB and 30 seconds, and none of files
that were gone within 30 seconds of their birth. The last columns are of the 4 MB that were written
most: their share of all writes, how much of that lies in files that are said to be written over
and over, and how much in those files' first blocks, the ones that may lie in a region.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.heat import COLUMNS, Day
from birthmark.data.datasets.tables import read_files, read_table
from birthmark.features.columns import decoded
from birthmark.predictor import BUILT_IN, KINDS, Kind, Point, TrainedModel
from birthmark.predictor.allocation.verdicts import HINTS, hint_image, verdicts
from birthmark.predictor.heat import directories
from birthmark.predictor.heat.hot_places import HOT_BLOCKS
from birthmark.predictor.image.format import Image
from birthmark.training.learn.train import read_lives

SYNC = 30_000_000
REGION_BLOCKS = 1024


def verdict_columns(image: Image, things: pa.Table, directory: bool) -> dict[str, Any]:
    """Return by hint whether the image says yes to each of `things`, as a kernel knows them."""
    asked = pa.table(
        {
            "name": decoded(things["name"]),
            "directory": np.full(len(things), directory),
            "mode": things["mode"],
            "uid": pc.coalesce(things["uid"], things["owner"]),
            "gid": pc.coalesce(things["gid"], things["group"]),
        }
    )
    bits = verdicts(image, asked).to_numpy()
    return {hint: (bits >> place & 1).astype(bool) for place, hint in enumerate(HINTS)}


def disk_writes(day: Day) -> tuple[Any, Any, Any]:
    """Return the row of each block's file, the block, and how often it is written to the disk."""
    files = day.files
    since = pc.coalesce(files["born"], files["first_seen"]).cast(pa.int64()).to_numpy()
    until = files["observed_until"].cast(pa.int64()).to_numpy()
    gone = (
        (until - since <= SYNC) & np.asarray(files["death_seen"]) & np.asarray(files["birth_seen"])
    )
    remaining = ~gone[day.row]
    flushes = np.unique(np.stack([day.row, day.block, day.time // SYNC])[:, remaining], axis=1)
    (row, block), times = np.unique(flushes[:2], axis=1, return_counts=True)
    return row, block, times


def measured(model: TrainedModel, kind: Kind, point: Point, day: Day) -> dict[str, Any]:
    """Return the figures of one image."""
    image = Image(hint_image(model, kind, point))
    folders = directories(day.everything)
    answer = verdict_columns(image, day.files, False)
    hot_dirs = verdict_columns(image, folders, True)["HotDir"]
    born = np.asarray(day.files["birth_seen"])
    label = BUILT_IN["HotName"].evaluate(day.files)
    hot = np.asarray(label.fill_null(False)) & born
    cold = np.asarray(pc.invert(label).fill_null(False)) & born
    row, block, times = disk_writes(day)
    most = np.argsort(-times, kind="stable")[:REGION_BLOCKS]
    rewritten = answer["HotWrite"][row]
    births = np.asarray(folders["hot_births"])
    return {
        "kind": kind,
        "point": point,
        "hot births": int(hot.sum()),
        "found": int((answer["HotName"] & hot).sum()),
        "false": int((answer["HotName"] & cold).sum()),
        "old, called HotName": int((answer["HotName"] & ~born).sum()),
        "directories": len(folders),
        "HotDir": int(hot_dirs.sum()),
        "of hot births": births[hot_dirs].sum() / max(births.sum(), 1),
        "files": len(day.files),
        "HotWrite": int(answer["HotWrite"].sum()),
        "of writes": times[rewritten].sum() / times.sum(),
        "hottest 4 MB": times[most].sum() / times.sum(),
        "of it": times[most][rewritten[most]].sum() / times[most].sum(),
        "first blocks": times[most][(rewritten & (block < HOT_BLOCKS))[most]].sum()
        / times[most].sum(),
        "bytes": image.size,
    }


def main() -> None:
    """Train, ask, and print the figures of each kind and point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=["rules"], choices=KINDS)
    parser.add_argument("--points", nargs="+", default=["bounded"], choices=get_args(Point))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    lives = read_lives(given.train)
    hot_name = [BUILT_IN["HotName"]]
    model = TrainedModel().train(lives.with_others(), lives.names, hot_name, kinds=given.kinds)
    day = Day.of(read_files(given.test), read_table(given.test, "operations", COLUMNS))
    rows = [measured(model, k, p, day) for k in given.kinds for p in given.points]
    for row in rows:
        for what, value in row.items():
            shown = f"{value:.1%}" if isinstance(value, float) else value
            print(f"{what:>20}  {shown}")
        print()
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
