"""Files per second that the name models of all predicates learn from, beside two peers.

    python -m benchmarks.train_names [DATASET] [--files N] [--distinct] [--runs 3] [--json OUT]

The births of an ingested dataset (default: the bundled day 1), repeated to 2,000,000 files; with
``--distinct`` each repetition has names of its own, with a number before them. ``birthmark``
learns from names and labels all that it keeps: counts and rules of every file predicate. The peers
count the same components for the same labels, and choose no rules: scikit-learn's
``CountVectorizer`` with the components as its tokens, times the matrix of labels, and pandas,
grouping exploded components. Both are given each distinct name once, weighted by its files, for
otherwise they would take minutes; what that costs them is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.feature_extraction.text import CountVectorizer

from birthmark.data import lives
from birthmark.data.datasets.tables import read_files
from birthmark.data.traces.reader import open_trace
from birthmark.features import name_components
from birthmark.predictor import FILE_PREDICATES, births
from birthmark.predictor.models.name.set import NameModels

SAMPLE = Path(__file__).resolve().parents[1] / "data/samples/day1.parquet"


def rows(dataset: Path | None, n: int, distinct: bool) -> tuple[pa.Array, pa.RecordBatch]:
    """Return ``n`` names, and their labels by predicate; null where one is unknown."""
    files = read_files(dataset) if dataset else lives.tables(open_trace(str(SAMPLE)))[0]
    born = births(files)
    again = np.arange(n)
    of = pa.array(again % len(born))
    labels = {key: predicate.evaluate(born).take(of) for key, predicate in FILE_PREDICATES.items()}
    names = born["name"].combine_chunks().cast(pa.binary()).take(of)
    if distinct:
        number = pa.array((again // len(born)).astype(str)).cast(pa.binary())
        names = pc.binary_join_element_wise(number, names, b"")
    return names, pa.record_batch(list(labels.values()), names=list(labels))


def birthmark(names: pa.Array, labels: pa.RecordBatch) -> int:
    models = NameModels()
    models.train(pa.table({"name": names}), dict(zip(labels.schema.names, labels, strict=True)))
    return max(len(model.counts_) for model in models.values())


def weighted(names: pa.Array, labels: pa.RecordBatch) -> tuple[list[bytes], Any]:
    """Return the distinct names, and for each how many labels are known and true, by predicate."""
    encoded = names.dictionary_encode()
    places = encoded.indices.to_numpy()
    known = [column.is_valid().to_numpy(zero_copy_only=False) for column in labels]
    true = [column.fill_null(False).to_numpy(zero_copy_only=False) for column in labels]
    sums = [np.bincount(places, bits, len(encoded.dictionary)) for bits in (*known, *true)]
    return encoded.dictionary.to_pylist(), np.column_stack(sums)


def tokens(name: str) -> list[bytes]:
    return name_components(name.encode("latin-1"), True)


def scikit_learn(names: pa.Array, labels: pa.RecordBatch) -> int:
    distinct, sums = weighted(names, labels)
    vectorizer = CountVectorizer(encoding="latin-1", analyzer=tokens, binary=True)
    matrix = vectorizer.fit_transform(distinct)
    return len(matrix.T @ sums)


def pandas(names: pa.Array, labels: pa.RecordBatch) -> int:
    distinct, sums = weighted(names, labels)
    components = [name_components(name, True) for name in distinct]
    frame = pd.DataFrame(sums).assign(component=components).explode("component")
    return len(frame.groupby("component").sum())


PROGRAMS: dict[str, Callable[[pa.Array, pa.RecordBatch], int]] = {
    "birthmark": birthmark,
    "scikit-learn": scikit_learn,
    "pandas": pandas,
}


def measure(names: pa.Array, labels: pa.RecordBatch, runs: int) -> list[dict[str, Any]]:
    """Time every program, runs interleaved; return a row for each."""
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    components: set[int] = set()
    for _ in range(runs):
        for name, program in PROGRAMS.items():
            began = time.monotonic()
            components.add(program(names, labels))
            seconds[name].append(time.monotonic() - began)
    if len(components) > 1:
        raise SystemExit(f"the programs found different numbers of components: {components}")
    ours = median(seconds["birthmark"])
    return [
        {
            "program": name,
            "files": len(names),
            "distinct_names": pc.count_distinct(names).as_py(),
            "predicates": labels.num_columns,
            "components": max(components),
            "cores": os.cpu_count(),
            "seconds": round(median(spent), 3),
            "files_per_second": round(len(names) / median(spent)),
            "birthmark_is_faster": round(median(spent) / ours, 2),
        }
        for name, spent in seconds.items()
    ]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", type=Path)
    parser.add_argument("--files", type=int, default=2_000_000)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    names, labels = rows(arguments.dataset, arguments.files, arguments.distinct)
    found = measure(names, labels, arguments.runs)
    print(
        f"{found[0]['files']:,} files, {found[0]['distinct_names']:,} names, "
        f"{found[0]['components']:,} components, {found[0]['predicates']} predicates"
    )
    print(f"{'program':16}{'s':>8}{'files/s':>12}{'birthmark is':>14}")
    for row in found:
        print(
            f"{row['program']:16}{row['seconds']:8.2f}{row['files_per_second']:12,}"
            f"{row['birthmark_is_faster']:10.1f} ×"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
