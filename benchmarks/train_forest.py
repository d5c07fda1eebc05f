"""Time and memory to train the forest of all predicates on a day of many creates.

    python -m benchmarks.train_forest DATASET... [--creates 1000000] [--seed N] [--json OUT]

The day is the births of the datasets, again and again, each time with some of the bytes that the
forest sees changed at random, so that no two repetitions are alike. LightGBM, where it is
installed, is trained on the same rows for the evenest predicate, and its time taken times their
number.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners import answers_of, light_gbm, lives
from birthmark.features import History, from_files
from birthmark.features.encoding import Encoding
from birthmark.predictor import FILE_PREDICATES
from birthmark.predictor.models.forest.model import LOOKED_AT, CreateForest

CHANGED = 0.02
"""The share of the bytes that are changed."""


def repeated(matrix: Any, labels: Any, creates: int, seed: int) -> tuple[Any, Any]:
    """Return so many rows made of those given."""
    chance = np.random.default_rng(seed)
    place = np.arange(creates) % len(matrix)
    rows = matrix[place]
    for start in range(len(matrix), creates, 65536):
        part = rows[start : start + 65536]
        other = chance.integers(0, len(matrix), part.shape[0])
        part[:] = np.where(chance.random(part.shape) < CHANGED, matrix[other], part)
    return rows, labels[place]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--creates", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    files = lives(arguments.datasets, History())
    creates = from_files(files)
    labels = answers_of(files, list(FILE_PREDICATES))
    began = time.monotonic()
    matrix = Encoding.learn(creates).transform(creates)
    encoding = (time.monotonic() - began) / len(files) * arguments.creates
    full = ~np.isnan(labels).any(axis=1)
    rows, answers = repeated(matrix[full], labels[full] == 1, arguments.creates, arguments.seed)
    began = time.monotonic()
    forest = CreateForest(seed=arguments.seed).grow(rows, answers)
    growing = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.monotonic()
    forest.predict(rows)
    predicting = time.monotonic() - began
    result: dict[str, Any] = {
        "creates": len(rows),
        "predicates": answers.shape[1],
        "encoding_seconds": encoding,
        "growing_seconds": growing,
        "rows_per_second": len(rows) / (encoding + growing),
        "peak_mb": peak,
        "kb_per_predicate": forest.compiled_bytes / 1024 / answers.shape[1],
        "predicted_per_second": len(rows) / predicting,
    }
    if importlib.util.find_spec("lightgbm"):
        began = time.monotonic()
        evenest = np.abs(answers.mean(axis=0) - 0.5).argmin()
        light_gbm(arguments.seed).fit(rows[:, LOOKED_AT], answers[:, evenest])
        result["lightgbm_seconds"] = (time.monotonic() - began) * answers.shape[1]
        result["times_lightgbm"] = result["lightgbm_seconds"] / (encoding + growing)
    for name, value in result.items():
        print(f"{name:24}{value:14,.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
