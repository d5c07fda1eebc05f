"""Learners for the modern model, on the same columns: how right, how large, how slow.

    python -m benchmarks.learners --train DATASET... --test DATASET... [--seed N] [--json OUT]

Each is trained on the births of the training datasets but for those kept to calibrate on, with
the bytes of ``features.encoding`` (LightGBM, where it is installed, takes codes as categories). By
predicate about files: the share of wrong answers at a threshold of one half; and at the threshold
that ``predictor.fit.thresholds`` chooses to keep false positives within 1 % of all files, the
shares of false and true positives. Means are over all predicates that occur in training. ``kB`` is
per predicate: 8 bytes a split, 1 a leaf's score (boosted: 4).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)

from birthmark.data.datasets.tables import read_files
from birthmark.features import History, from_files
from birthmark.features.encoding import CODED, COLUMNS, Encoding
from birthmark.predictor import FILE_PREDICATES, births
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import Limit, Slice, choose
from birthmark.predictor.models.forest.forest import SPLIT_BYTES
from birthmark.predictor.models.forest.model import LOOKED_AT, CreateForest
from birthmark.predictor.parameters import DEFAULTS

Scorer = Callable[[Any], Any]
Learner = Callable[[Any, Any, int], tuple[Scorer, float]]


def as_used(matrix: Any, labels: Any, seed: int) -> tuple[Scorer, float]:
    forest = CreateForest(seed=seed).grow(matrix, labels)
    return forest.predict, forest.compiled_bytes / labels.shape[1]


def forest_of(kind: Any, **parameters: Any) -> Learner:
    """Return the learner of scikit-learn's forests of one ``kind``."""

    def learn(matrix: Any, labels: Any, seed: int) -> tuple[Scorer, float]:
        trees = kind(random_state=seed, n_jobs=-1, min_samples_leaf=3, **parameters)
        trees.fit(matrix[:, LOOKED_AT], labels.astype(float))
        leaves = sum(tree.get_n_leaves() for tree in trees.estimators_)
        size = SPLIT_BYTES * leaves / labels.shape[1] + leaves
        return lambda rows: trees.predict(rows[:, LOOKED_AT]), size

    return learn


def boosted(model: Any, columns: list[int], leaves: Callable[[Any], int]) -> Learner:
    """Return the learner that boosts trees, predicate by predicate."""

    def learn(matrix: Any, labels: Any, seed: int) -> tuple[Scorer, float]:
        remaining: list[Any] = []
        for answers in labels.T:
            remaining.append(model(seed).fit(matrix[:, columns], answers))
        size = sum(12 * leaves(one) for one in remaining) / len(remaining)
        return lambda rows: np.column_stack(
            [one.predict_proba(rows[:, columns])[:, 1] for one in remaining]
        ), size

    return learn


def histogram_boosting(seed: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=120, max_leaf_nodes=63, learning_rate=0.1, random_state=seed
    )


def light_gbm(seed: int, **parameters: Any) -> Any:
    """Return LightGBM's classifier, with ``parameters`` in place of the defaults here."""
    from lightgbm import LGBMClassifier

    defaults = {
        "n_estimators": 120,
        "num_leaves": 63,
        "colsample_bytree": 0.3,
        "subsample": 0.7,
        "subsample_freq": 1,
        "categorical_feature": [i for i, c in enumerate(LOOKED_AT) if COLUMNS[c] in CODED],
        "n_jobs": -1,
        "verbose": -1,
    }
    return LGBMClassifier(random_state=seed, **(defaults | parameters))


def learners() -> dict[str, Learner]:
    """Return the compared learners, by name."""
    found = {
        "forest, as used": as_used,
        "extra trees, unbounded": forest_of(ExtraTreesRegressor, n_estimators=32, max_features=0.4),
        "random forest": forest_of(RandomForestRegressor, n_estimators=32, max_features=0.2),
        "histogram boosting": boosted(
            histogram_boosting,
            LOOKED_AT,
            lambda m: sum(p[0].get_n_leaf_nodes() for p in m._predictors),
        ),
    }
    if importlib.util.find_spec("lightgbm"):
        found["LightGBM"] = boosted(
            light_gbm,
            LOOKED_AT,
            lambda m: sum(t["num_leaves"] for t in m.booster_.dump_model()["tree_info"]),
        )
    return found


def lives(paths: list[Path], history: History) -> pa.Table:
    """Return the births of datasets, with their history."""
    every = []
    for path in paths:
        files = births(read_files(path))
        every.append(files.append_column("history", history.follow(files, DEFAULTS.behind)))
    return pa.concat_tables(every).unify_dictionaries()


def answers_of(files: pa.Table, keys: list[str]) -> Any:
    """Return labels, row by row and key by key: 0, 1, or nan for unknown."""
    found = [FILE_PREDICATES[key].evaluate(files).cast(pa.float64()) for key in keys]
    return np.column_stack([answers.to_numpy(zero_copy_only=False) for answers in found])


def judge(scores: Any, truth: Any, held: Any, held_truth: Any, block: Any) -> dict[str, float]:
    """Return the accuracy of one predicate's scores, in percent."""
    known = ~np.isnan(held_truth)
    part = Slice(held[known], held_truth[known] == 1, block[known])
    bounded = choose(part, Limit()).bounded
    known = ~np.isnan(truth)
    scores, truth = scores[known], truth[known] == 1
    yes = np.zeros(len(truth), bool) if bounded is None else scores >= bounded
    return {
        "incorrect": 100 * float(np.mean((scores >= 0.5) != truth)),
        "false_positives": 100 * float(np.mean(yes & ~truth)),
        "true_positives": 100 * float(np.mean(yes & truth)),
    }


def judge_all(
    keys: list[str], scores: Any, truth: Any, held: Any, held_truth: Any, block: Any
) -> list[dict[str, Any]]:
    """Return the accuracy of the scores of each predicate, column by column."""
    columns = zip(keys, scores.T, truth.T, held.T, held_truth.T, strict=True)
    return [{"predicate": key, **judge(*own, block)} for key, *own in columns]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs="+", type=Path, required=True)
    parser.add_argument("--test", nargs="+", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    history = History()
    known, later = lives(arguments.train, history), lives(arguments.test, history)
    keys = [k for k, p in FILE_PREDICATES.items() if p.evaluate(known).true_count]
    labels, truth = answers_of(known, keys), answers_of(later, keys)
    holdout = Holdout.of(known, 0.2, crossed=False)
    learned = holdout.learned
    encoding = Encoding.learn(from_files(known).filter(pa.array(learned)))
    matrix, rows = encoding.transform(from_files(known)), encoding.transform(from_files(later))
    full = learned & ~np.isnan(labels).any(axis=1)
    results: list[dict[str, Any]] = []
    print(f"{'learner':24}{'wrong %':>9}{'FP %':>7}{'TP %':>7}{'s':>8}{'kB':>8}")
    for name, learn in learners().items():
        began = time.monotonic()
        predict, size = learn(matrix[full], labels[full] == 1, arguments.seed)
        seconds = time.monotonic() - began
        scores, held = predict(rows), predict(matrix[holdout.held])
        block = holdout.block[holdout.held]
        about = {"learner": name, "seconds": seconds, "bytes_per_predicate": size}
        judged = judge_all(keys, scores, truth, held, labels[holdout.held], block)
        results += [about | row for row in judged]
        wrong, false, true = (
            np.mean([row[n] for row in judged])
            for n in ("incorrect", "false_positives", "true_positives")
        )
        print(f"{name:24}{wrong:9.2f}{false:7.2f}{true:7.2f}{seconds:8.1f}{size / 1024:8.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
