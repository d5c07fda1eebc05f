"""Likeness of the generated workloads to the thesis's, and the speed of generating them.

    python -m benchmarks.workloads [WORKLOAD...] [--rate 1] [--seed 1] [--json OUT]

For each workload five days are generated, from a Monday on, written as Parquet and read again. The
mix of operations in the peak hours stands beside that of Table 4.2 (to be within 10% of each), the
share of files that satisfy each predicate beside Occurs of Tables 6.5 to 6.7 (within 3 points),
and how often the name model, trained on the first day, is right on the next four beside Correct
(within 5 points for 14 of the 17 predicates at least). ``--rate`` scales the rates below.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data import lives
from birthmark.data.traces.reader import open_trace
from birthmark.predictor import TrainedModel, births
from birthmark.research.workloads import WORKLOADS, Workload
from birthmark.research.workloads.output import Written, write
from birthmark.research.workloads.profile import MIX, Hours, read_profile
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.learn.train import Lives

RATES = {"campus": 0.06, "deas03": 0.06, "eecs03": 0.2}
"""Rate at which some 4,500 to 10,000 files are created in a day."""

PREDICTIONS = Path(__file__).with_name("thesis") / "predictions.csv"
MIX_BOUND, OCCURS_BOUND, CORRECT_BOUND, ENOUGH = 10.0, 3.0, 5.0, 14


class Tally:
    """Counts the operations and bytes of the peak hours, and of all, as batches go by."""

    def __init__(self) -> None:
        self.ops: dict[str, Counter[str]] = {"peak": Counter(), "all": Counter()}
        self.moved: Counter[str] = Counter()

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass batches on, counted."""
        for batch in batches:
            hour, day = pc.hour(batch["time"]), pc.day_of_week(batch["time"])
            peak = pc.and_(pc.and_(pc.greater_equal(hour, 9), pc.less(hour, 18)), pc.less(day, 5))
            columns = pa.table({"op": batch["op"].cast(pa.utf8()), "n": batch["reply_count"]})
            self._add("all", columns)
            self._add("peak", columns.filter(peak))
            yield batch

    def _add(self, hours: str, columns: pa.Table) -> None:
        sums = columns.group_by("op").aggregate([([], "count_all"), ("n", "sum")])
        for row in sums.to_pylist():
            self.ops[hours][row["op"]] += row["count_all"]
            if hours == "peak" and row["n_sum"]:
                self.moved[row["op"]] += row["n_sum"]


def compare_mix(ops: Counter[str], expected: Hours) -> list[dict[str, Any]]:
    rows = []
    for op in MIX:
        share, thesis = 100 * ops[op] / ops.total(), getattr(expected, op)
        rows.append(row(op, thesis, share, 100 * (share / thesis - 1), MIX_BOUND))
    return rows


def compare_predictions(name: str, files: pa.Table, names: pa.Table) -> dict[str, list[Any]]:
    start = datetime.fromisoformat(read_profile(name).start).replace(tzinfo=UTC)
    tuesday = start + timedelta(days=1)
    all_days = Lives((name,), births(files), births(names))
    monday, rest = all_days.born(before=tuesday), all_days.born(since=tuesday)
    model = TrainedModel(calibration=0).train(monday.files, monday.names)
    found = {
        each["predicate"]: each
        for each in evaluate(model, rest.files, rest.names).to_pylist()
        if (each["subject"], each["model"]) == ("file", "name")
    }
    tables: dict[str, list[Any]] = {"occurs": [], "correct": []}
    with PREDICTIONS.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["trace"] != name.upper():
                continue
            for column, bound in (("occurs", OCCURS_BOUND), ("correct", CORRECT_BOUND)):
                thesis, measured = float(line[column]), found[line["predicate"]][column]
                tables[column].append(
                    row(line["predicate"], thesis, measured, measured - thesis, bound)
                )
    return tables


def row(what: str, thesis: float, measured: float, off: float, bound: float) -> dict[str, Any]:
    return {
        "what": what,
        "thesis": thesis,
        "generated": round(measured, 3),
        "difference": round(off, 3),
        "within": abs(off) <= bound,
    }


def measure(name: str, rate: float, seed: int, scratch: Path) -> dict[str, Any]:
    """Generate, read again and compare one workload."""
    profile = read_profile(name)
    path = scratch / f"{name}.parquet"
    written: Written = write(Workload(name, seed, profile.start, 5, rate), path)
    tally = Tally()
    files, names = lives.tables(tally.count(iter(open_trace(path))))
    path.unlink()
    read, wrote = (tally.moved[op] for op in ("read", "write"))
    peak = tally.ops["peak"]
    return {
        **written.to_json(),
        "files_created": len(births(files)),
        "mix": compare_mix(peak, profile.peak),
        **compare_predictions(name, files, names),
        "read_write_bytes": round(read / wrote, 2),
        "read_write_operations": round(peak["read"] / peak["write"], 2),
    }


def show(name: str, result: dict[str, Any]) -> None:
    """Print all columns of one workload."""
    print(
        f"\n{name.upper()}: generated, seed {result['generated']['seed']}; "
        f"{result['operations']:,} operations, {result['files_created']:,} files, "
        f"{result['operations_per_second']:,} operations/s"
    )
    for table, title, unit in (
        ("mix", "operations of the peak hours (Table 4.2), percent", "%"),
        ("occurs", "files that satisfy a predicate, percent", " points"),
        ("correct", "name model correct, percent", " points"),
    ):
        rows = result[table]
        print(f"{title:52}{'thesis':>9}{'generated':>11}{'difference':>17}")
        for each in rows:
            difference = f"{each['difference']:+.2f}{unit}"
            flag = "" if each["within"] else "  !"
            print(
                f"  {each['what']:50}{each['thesis']:9.2f}{each['generated']:11.2f}"
                f"{difference:>17}{flag}"
            )
        print(f"  within bounds: {sum(each['within'] for each in rows)} of {len(rows)}")
    print(
        f"  read to write: {result['read_write_operations']} operations, "
        f"{result['read_write_bytes']} bytes"
    )


def verdict(results: dict[str, Any]) -> bool:
    """Return whether everything is within its bounds."""
    return all(
        all(each["within"] for table in ("mix", "occurs") for each in result[table])
        and sum(each["within"] for each in result["correct"]) >= ENOUGH
        for result in results.values()
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.workloads:
            rate = RATES[name] * arguments.rate
            results[name] = measure(name, rate, arguments.seed, Path(scratch))
            show(name, results[name])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    if not verdict(results):
        raise SystemExit("not within bounds")


if __name__ == "__main__":
    main()
