"""Cost of anonymizing, and its effect on models: time next to sed's, figures without it.

    python -m benchmarks.anonymize --days DAY1 DAY2 --text FILE... [--runs 3] [--json OUT]

``--days`` trains on one trace and tests on the next, as they are and anonymized, and prints for
every predicate how often the models are right (Correct, percent). It fails if any figure of the
evaluation differs. ``--text`` measures nfsdump text (``benchmarks.repeat`` makes large files),
plain or gzipped, beside programs that only read it or change one word of each line.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from benchmarks.ingest import timed
from birthmark.data.anonymize import anonymize
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.training.config import Settings
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.learn.train import read_lives, train


def figures(first: Path, second: Path) -> pa.Table:
    """Train on one dataset, test on another.

    The forest is left out: it looks at the lengths and digits of names, which do not stay.
    """
    model, _ = train(read_lives([first]), Settings())
    del model.models["forest"]
    return evaluate(model, read_files(second), read_names(second))


def compare(days: list[Path], scratch: Path) -> list[dict[str, Any]]:
    """Return for every predicate and model Correct before and after; all else must be equal."""
    originals, copies = ([scratch / f"{way}-{i}" for i in (1, 2)] for way in ("as-it-is", "hidden"))
    for day, original, copy in zip(days, originals, copies, strict=True):
        ingest([day], original)
        anonymize([str(original)], str(copy), scratch / "mapping")
    before, after = figures(*originals), figures(*copies)
    rows = []
    for one, other in zip(before.to_pylist(), after.to_pylist(), strict=True):
        about = {name: one[name] for name in ("subject", "predicate", "model", "n")}
        figures_ = {"before": one["correct"], "after": other["correct"]}
        rows.append({**about, **figures_, "all_equal": one == other})
    return rows


def commands(path: Path, scratch: Path) -> dict[str, str]:
    """Return the measured commands on a file, by name, for the shell."""
    read = f"gzip -dc '{path}'" if path.suffix == ".gz" else f"cat '{path}'"
    run = f"'{sys.executable}' -m birthmark anonymize '{path}'"
    fresh = f"rm -f '{scratch}/mapping'; {run} --mapping '{scratch}/mapping' --out '{scratch}/out'"
    return {
        "birthmark anonymize": fresh,
        "wc -l": f"{read} | wc -l",
        "sed s/word/word/": f'{read} | sed \'s/ name "[^"]*"/ name "x"/\' > \'{scratch}/out\'',
    }


def measure(path: Path, scratch: Path, runs: int) -> list[dict[str, Any]]:
    """Measure everything on one file, runs interleaved; return a row for each program."""
    summary = anonymize([str(path)], str(scratch / "out"), scratch / "counted")
    samples: dict[str, list[float]] = {}
    for _ in range(runs):
        for name, command in commands(path, scratch).items():
            samples.setdefault(name, []).append(timed(command, runs_in_shell=True).seconds)
    mine = median(samples["birthmark anonymize"])
    return [
        {
            "file": path.name,
            "program": name,
            "seconds": round(median(spent), 3),
            "records_per_second": round(summary.records_in / median(spent)),
            "times_birthmark": round(median(spent) / mine, 3),
        }
        for name, spent in samples.items()
    ]


def show_figures(rows: list[dict[str, Any]]) -> None:
    """Print Correct before and after."""
    print(f"{'subject':8}{'predicate':16}{'model':6}{'n':>9}{'before':>9}{'after':>9}  all figures")
    for row in rows:
        pair = "".join(
            f"{'-' if row[k] is None else f'{row[k]:.4f}':>9}" for k in ("before", "after")
        )
        same = "equal" if row["all_equal"] else "DIFFER"
        head = f"{row['subject']:8}{row['predicate']:16}{row['model']:6}{row['n']:9,}"
        print(f"{head}{pair}  {same}")


def show_speed(rows: list[dict[str, Any]]) -> None:
    """Print records per second."""
    print(f"{'file':24}{'program':24}{'s':>8}{'records/s':>13}{'x birthmark':>13}")
    for row in rows:
        print(
            f"{row['file']:24}{row['program']:24}{row['seconds']:8.2f}"
            f"{row['records_per_second']:13,}{row['times_birthmark']:13.2f}"
        )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", nargs=2, type=Path, default=[], metavar="TRACE")
    parser.add_argument("--text", nargs="+", type=Path, default=[], metavar="FILE")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {"claim": [], "speed": []}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.days:
            found["claim"] = compare(arguments.days, Path(folder))
            show_figures(found["claim"])
        for path in arguments.text:
            found["speed"] += measure(path, Path(folder), arguments.runs)
        if found["speed"]:
            show_speed(found["speed"])
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")
    if not all(row["all_equal"] for row in found["claim"]):
        raise SystemExit("the models' figures differ")


if __name__ == "__main__":
    main()
