"""Block writes in a region of limited size, by the policy that fills it.

    python -m benchmarks.heat --train DAY... --test DAY [--workloads campus eecs03 deas03]
                              [--rate 1] [--regions 256 1024 4096] [--json OUT]

A day is an ingested dataset. Of each generated workload two days are made; the first is learned
from. The writes of the test day are gone through in their order, by blocks of 4 KB: the first
write of a block places it, into the region if the policy wants its file there and a block of the
region is free, and it stays there until its file dies. (No disk is simulated: caches and the
allocator are the replay's business.) The policies:

- ``hotname``: files that the name models predict to be empty or to live for five seconds (thesis
  chapter 7);
- ``hotwrite``: files of enough predicted block writes per hour and block (``predictor.heat``);
  those from the training days go by their own past, too;
- ``at create``: the same without that past; ``boosting``: the same by scikit-learn's gradient
  boosting (Poisson) over the same columns;
- ``perfect``: the same policy, if it knew what will be written; ``random``: files at random;
- ``optimal``: the blocks that were written most, as the thesis has it: no block is used again;
- ``bound``: what no policy can exceed, as it lets the blocks taken be as many on average.

The second table: how many of the hot births fall in directories predicted to be hot, by
``HotDirs`` from names alone and from what was born there before, and by the thesis's list.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import HistGradientBoostingRegressor

from birthmark.data import lives
from birthmark.data.datasets.tables import read_files, read_table
from birthmark.data.traces.reader import open_trace
from birthmark.features import from_files, seen_before
from birthmark.predictor import FILE_PREDICATES, NameModel, births
from birthmark.predictor.heat import HotDirs, WriteRates, bar, directories, entry_bar, fill
from birthmark.predictor.heat.rates import keys_of, measured
from birthmark.predictor.predicates import DIRECTORY_PREDICATES
from birthmark.predictor.predicates.blocks import BLOCK, HOUR, block_writes
from birthmark.research.workloads import Workload
from birthmark.research.workloads.output import write
from birthmark.research.workloads.profile import read_profile

COLUMNS = ["server", "op", "status", "fh", "time", "reply_time", "offset", "reply_count"]
RATES = {"campus": 0.02, "deas03": 0.02, "eecs03": 0.05}
SEED = 1
LISTED = {b"mail", b"spool", b"cache", b".cache"}


@dataclass(frozen=True)
class Day:
    """The files of a period, and its writes as blocks, each with its file's row."""

    everything: pa.Table
    files: pa.Table
    row: Any
    block: Any
    time: Any
    hours: float

    @classmethod
    def of(cls, lives_of: pa.Table, operations: pa.Table) -> Day:
        """Return the day that a files table and an operations table tell of."""
        files = lives_of.filter(pc.equal(lives_of["kind"], "file"))
        done = pc.and_(pc.equal(operations["op"], "write"), pc.equal(operations["status"], 0))
        writes = operations.filter(pc.fill_null(done, False))
        row, block, time = blocks_written(files, writes)
        since = pc.min(operations["time"]).as_py()
        until = pc.max(files["observed_until"]).as_py()
        return cls(lives_of, files, row, block, time, (until - since) / timedelta(hours=1))


def blocks_written(files: pa.Table, writes: pa.Table) -> tuple[Any, Any, Any]:
    """Return for each block written, in order of time, its file's row, its number and the time.

    A handle that had several lives is the one that was first seen last.
    """
    seen = files.select(["server", "fh", "first_seen"]).to_pandas().reset_index(names="row")
    asked_for = writes.to_pandas()
    asked_for["time"] = asked_for["reply_time"].fillna(asked_for["time"])
    for frame in (seen, asked_for):
        frame["server"] = frame["server"].astype(str)
    found = pd.merge_asof(
        asked_for.sort_values("time", kind="stable"),
        seen.sort_values("first_seen"),
        left_on="time",
        right_on="first_seen",
        by=["server", "fh"],
    ).dropna(subset=["row"])
    first = (found["offset"] // BLOCK).to_numpy(dtype=np.int64)
    last = ((found["offset"] + found["reply_count"].clip(lower=1) - 1) // BLOCK).to_numpy(np.int64)
    count = last - first + 1
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    time = found["time"].dt.as_unit("us").astype("int64").to_numpy()
    row = found["row"].to_numpy(dtype=np.int64)
    return np.repeat(row, count), np.repeat(first, count) + within, np.repeat(time, count)


def wanted_blocks(day: Day, benefit: Any, price: Any) -> float:
    """Return the share of block writes that fall in a region of ``len(price) - 1`` blocks.

    A file comes in if its benefit is at least the price, by how many blocks are taken.
    """
    died = day.files["died"].cast(pa.int64()).fill_null(np.iinfo(np.int64).max).to_numpy()
    prices, region = list(price), len(price) - 1
    placed: dict[tuple[int, int], bool] = {}
    leaving: list[int] = []
    inside = 0
    for row, block, time in zip(
        *map(np.ndarray.tolist, (day.row, day.block, day.time)), strict=True
    ):
        while leaving and leaving[0] <= time:
            heappop(leaving)
        here = placed.get((row, block))
        if here is None:
            here = len(leaving) < region and benefit[row] >= prices[len(leaving)]
            placed[row, block] = here
            if here:
                heappush(leaving, int(died[row]))
        inside += here
    return inside / len(day.row)


def counts(day: Day) -> tuple[Any, Any]:
    """Return the number of writes of each block, and its lifetime in hours."""
    key = pd.DataFrame({"row": day.row, "block": day.block, "time": day.time})
    each = key.groupby(["row", "block"])["time"].agg(["size", "min"]).reset_index()
    until = day.files["observed_until"].cast(pa.int64()).to_numpy()[each["row"]]
    return each["size"].to_numpy(), np.maximum(until - each["min"].to_numpy(), 0) / HOUR


def optimal(day: Day, region: int) -> float:
    written, _ = counts(day)
    return float(np.sort(written)[::-1][:region].sum() / written.sum())


def bound(day: Day, region: int) -> float:
    written, hours = counts(day)
    occupied = hours / day.hours
    share = np.divide(
        fill(region, written, occupied), occupied, out=np.ones_like(occupied), where=occupied > 0
    )
    return float((share * written).sum() / written.sum())


def hotname(train: pa.Table, files: pa.Table) -> Any:
    """Return which files the thesis's name models predict to be empty or short-lived."""
    born, answers = births(train), np.zeros(len(files), dtype=bool)
    for name in ("size=zero", "lifespan<=5"):
        labels = FILE_PREDICATES[name].evaluate(born)
        known = labels.is_valid()
        model = NameModel().fit(from_files(born).filter(known), labels.filter(known))
        answers |= model.predict(from_files(files))
    return answers


CATEGORIES = ("suffix", "prefix", "shape", "dir_name")


def boosted(train: pa.Table) -> Callable[[pa.Table], Any]:
    """Return the benefit that gradient boosting predicts: writes by blocks, each per hour."""
    born = births(train)
    keys, values = keys_of(from_files(born)), measured(born)
    hours = np.maximum(values["hours"], 1e-9)
    codes = {name: _most_frequent(keys[name], 250) for name in CATEGORIES}

    def encoded(files: pa.Table) -> Any:
        asked_of = keys_of(from_files(files))
        found = [
            pc.fill_null(pc.index_in(asked_of[name], value_set=codes[name]), 250)
            for name in CATEGORIES
        ]
        length = pc.binary_length(asked_of["name"])
        numbers = [pc.fill_null(column, 0) for column in (length, files["mode"], files["uid"])]
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in found + numbers])

    models = [
        HistGradientBoostingRegressor(
            loss="poisson", categorical_features=list(range(len(codes))), random_state=SEED
        ).fit(encoded(born), values[what] / hours, sample_weight=hours)
        for what in ("writes", "block_hours")
    ]

    def benefit(files: pa.Table) -> Any:
        writes, blocks = (model.predict(encoded(files)) for model in models)
        return writes / np.maximum(blocks, 1e-9)

    return benefit


def _most_frequent(column: pa.ChunkedArray, most: int) -> pa.Array:
    counted = pc.value_counts(column.drop_null().combine_chunks())
    order = np.argsort(-np.asarray(counted.field("counts")), kind="stable")[:most]
    return counted.field("values").take(pa.array(order))


def known_before(rates: WriteRates, train: pa.Table, day: Day, benefit: Any) -> Any:
    """Return ``benefit``, for the files that were alive in training by their own past."""
    alive = train.filter(pc.invert(train["death_seen"]))
    keys = [_handles(table) for table in (day.files, alive)]
    # of several rows of one file, the last is the latest day's
    latest = (
        len(alive)
        - 1
        - pc.index_in(keys[0], value_set=keys[1][::-1]).to_numpy(zero_copy_only=False)
    )
    own = rates.reconsider(alive)["benefit"].to_numpy()
    known = ~np.isnan(latest)
    benefit = np.array(benefit)
    benefit[known] = own[latest[known].astype(int)]
    return benefit


def _handles(table: pa.Table) -> pa.Array:
    servers = table["server"].combine_chunks().cast(pa.utf8()).cast(pa.binary())
    return pc.binary_join_element_wise(servers, table["fh"].combine_chunks(), b"\0")


def compare(train: list[Day], day: Day, regions: list[int]) -> list[dict[str, Any]]:
    """Return a row per region: the share of block writes in it, by policy."""
    past = pa.concat_tables([each.files for each in train]).unify_dictionaries()
    rates = WriteRates().partial_fit(past)
    trees = boosted(past)
    values = measured(past)
    occupied = values["block_hours"] / sum(each.hours for each in train)
    truth = measured(day.files)
    random = np.random.default_rng(SEED)
    at_create = rates.predict(from_files(day.files))["benefit"].to_numpy()
    expected = rates.predict(from_files(past))["benefit"].to_numpy()
    by_own = np.where(past["birth_seen"], expected, rates.reconsider(past)["benefit"].to_numpy())
    policies = {
        "hotwrite": (by_own, known_before(rates, past, day, at_create)),
        "at create": (expected, at_create),
        "boosting": (trees(past), trees(day.files)),
        "perfect": (quotient(truth), quotient(truth)),
        "random": (random.random(len(past)), random.random(len(day.files))),
    }
    rows = []
    thesis = np.where(hotname(past, day.files), 1.0, 0.0)
    for region in regions:
        full = np.arange(region + 1) / region
        row = {"region": region, "hotname": wanted_blocks(day, thesis, np.full(region + 1, 0.5))}
        for name, (learned, benefit) in policies.items():
            of = truth["block_hours"] / day.hours if name == "perfect" else occupied
            price = entry_bar(bar(region, learned * of, of), full)
            row[name] = wanted_blocks(day, benefit, price)
        rows.append(row | {"optimal": optimal(day, region), "bound": bound(day, region)})
    return rows


def quotient(values: dict[str, Any]) -> Any:
    writes, block_hours = values["writes"], values["block_hours"]
    return np.divide(writes, block_hours, out=np.zeros_like(writes), where=block_hours > 0)


def compare_directories(train: list[Day], day: Day) -> list[dict[str, Any]]:
    """Return a row per way to find hot directories."""
    past = directories(pa.concat_tables([each.everything for each in train]).unify_dictionaries())
    coming = directories(day.everything)
    model = HotDirs().partial_fit(past)
    ways = {
        "names alone": model.predict(seen_before(coming, past.slice(0, 0))),
        "with their past": model.predict(seen_before(coming, past)),
        "thesis's list": pa.array([listed(row) for row in coming.to_pylist()]),
        "all directories": pa.array([True] * len(coming)),
    }
    truth = DIRECTORY_PREDICATES["HotDir"].evaluate(coming)
    known = truth.is_valid()
    coming, true = coming.filter(known), truth.filter(known)
    born, hot = (np.asarray(coming[column]) for column in ("births", "hot_births"))
    rows = []
    for way, answer in ways.items():
        found = np.asarray(answer.filter(known))
        hits = int((found & np.asarray(true)).sum())
        rows.append(
            {
                "way": way,
                "directories": len(true),
                "hot": true.true_count,
                "found": int(found.sum()),
                "precision": hits / max(1, int(found.sum())),
                "recall": hits / max(1, true.true_count),
                "hot_births": float(hot[found].sum() / max(1, hot.sum())),
                "hot_of_births": float(hot[found].sum() / max(1, born[found].sum())),
            }
        )
    return rows


def listed(row: dict[str, Any]) -> bool:
    """Return whether a directory is a home, mail spool or cache directory by its names."""
    return row["parent_name"] == b"home" or (row["name"] or b"").lower() in LISTED


def measure(train: list[Day], day: Day, regions: list[int]) -> dict[str, Any]:
    counted = pc.sum(block_writes(day.files)).as_py()
    return {
        "block_writes": len(day.row),
        "counted_by_the_files_table": counted / len(day.row),
        "regions": compare(train, day, regions),
        "directories": compare_directories(train, day),
    }


def generated(name: str, rate: float, scratch: Path) -> list[Day]:
    """Return two days of a generated workload, each as if it was captured alone."""
    path, start = scratch / f"{name}.parquet", read_profile(name).start
    write(Workload(name, SEED, start, 2, rate), path)
    operations = pa.Table.from_batches(list(open_trace(path)))
    second = pc.greater_equal(
        operations["time"], pc.min(operations["time"]).as_py() + timedelta(days=1)
    )
    days = []
    for chosen in (pc.invert(second), second):
        part = operations.filter(chosen)
        files, _ = lives.tables(iter(part.to_batches()))
        days.append(Day.of(files, part.select(COLUMNS)))
    return days


def ingested(directory: Path) -> Day:
    return Day.of(read_files(directory), read_table(directory, "operations", COLUMNS))


def show(name: str, found: dict[str, Any]) -> None:
    """Print both tables of one test day."""
    head = list(found["regions"][0])
    print(f"\n{name}: {found['block_writes']:,} blocks written; share in the region, percent")
    print("".join(f"{column:>10}" for column in [*head, "of opt."]))
    for row in found["regions"]:
        cells = [f"{100 * row[column]:10.2f}" for column in head[1:]]
        ratio = row["hotwrite"] / row["optimal"]
        print(f"{row['region']:>10}" + "".join(cells) + f"{100 * ratio:9.0f}%")
    print(
        f"{'hot directories':18}" + "".join(f"{c:>14}" for c in list(found["directories"][0])[1:])
    )
    for row in found["directories"]:
        cells = [
            f"{v:>14.3f}" if isinstance(v, float) else f"{v:>14,}"
            for v in row.values()
            if v != row["way"]
        ]
        print(f"{row['way']:18}" + "".join(cells))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs="*", type=Path, default=[])
    parser.add_argument("--test", nargs="*", type=Path, default=[])
    parser.add_argument("--workloads", nargs="*", default=[], choices=RATES)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--regions", nargs="*", type=int, default=[256, 1024, 4096])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = {}
    if arguments.train:
        train = [ingested(path) for path in arguments.train]
        for path in arguments.test:
            results[path.name] = measure(train, ingested(path), arguments.regions)
            show(path.name, results[path.name])
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.workloads:
            first, second = generated(name, RATES[name] * arguments.rate, Path(scratch))
            results[name] = measure([first], second, arguments.regions)
            show(name, results[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
