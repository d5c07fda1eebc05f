"""The accuracy of learners without limits of time or size, next to that of the served forest.

    python -m benchmarks.ceiling --train DATASET... --test DATASET... [--trials N] [--json OUT]

LightGBM, CatBoost and TabM learn from the columns that the forest sees; each runs where its package
is installed, and the project depends on none of them. History and numbers are bytes, as for the
forest: no finer values exist. LightGBM and CatBoost take codes as categories, and the search tries
the whole name and its shape as further ones, each value a category, however rare. TabM takes
quantiles of the bytes, and codes one-hot.

A random search tries ``--trials`` parameters per learner. They learn from the first four fifths of
the training births, by time. Those with the fewest wrong answers on the last fifth, by the mean
over some ``TRIED_ON`` predicates (TabM: all), then learn from all training births and answer the
test once.

Columns are as in ``benchmarks.learners``: wrong answers at a threshold of one half, and false and
true positives at the threshold that keeps the bound on the last fifth of the training births.
``best`` has the true positives at the lowest threshold that keeps the bound on the test itself.
Seconds are of processor time: of the search, and to learn twice with its best parameters.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.model_selection import ParameterSampler

from benchmarks.ceiling_learners import CANDIDATES, Candidate
from benchmarks.control_streams import Stream
from benchmarks.learners import answers_of, judge_all, lives
from birthmark.features import History, from_files
from birthmark.features.columns import decoded
from birthmark.features.encoding import Encoding
from birthmark.features.history import shape
from birthmark.predictor import FILE_PREDICATES
from birthmark.predictor.fit.calibration import BLOCKS, Holdout
from birthmark.predictor.parameters import DEFAULTS

LAST_PART = 0.2
"""Share of the training births that trials are scored on, and thresholds chosen."""

TRIED_ON = 4
"""Number of predicates by which trials are compared, if each has a model of its own."""

FIGURES = {
    "incorrect": "wrong %",
    "false_positives": "FP %",
    "true_positives": "TP %",
    "best": "best %",
    "search": "search s",
    "learn": "learn s",
}


@dataclass(frozen=True)
class Data:
    """Training births, and those of the test, as rows of numbers with labels by predicate.

    Learners learn from the rows ``full``, on which all labels are known; trials from those that are
    ``early``. Trials are scored, and thresholds chosen, on the rows ``late``, in ``block`` of time.
    """

    keys: list[str]
    matrix: Any
    labels: Any
    full: Any
    early: Any
    late: Any
    block: Any
    rows: Any
    truth: Any

    @classmethod
    def read(cls, train: list[Path], test: list[Path]) -> Self:
        """Read datasets, in the order of their time."""
        history = History()
        known, later = lives(train, history), lives(test, history)
        block = Holdout.of(known, 0).block
        late = block >= (1 - LAST_PART) * BLOCKS
        labels, truth = (answers_of(own, list(FILE_PREDICATES)) for own in (known, later))
        full = ~np.isnan(labels).any(axis=1)
        # a model of one predicate needs both answers
        varies = np.ptp(labels[full & ~late], axis=0) > 0
        creates, asked = from_files(known), from_files(later)
        encoding = Encoding.learn(creates)
        return cls(
            [key for key, both in zip(FILE_PREDICATES, varies, strict=True) if both],
            np.column_stack([encoding.transform(creates), _values(creates, creates)]),
            labels[:, varies],
            full,
            full & ~late,
            late,
            block[late],
            np.column_stack([encoding.transform(asked), _values(creates, asked)]),
            truth[:, varies],
        )


def _values(known: pa.Table, creates: pa.Table) -> Any:
    """Return the name and shape of ``creates`` as numbers: 1, 2, … for the ``known``, else 0."""
    found = []
    for of in (decoded, shape):
        place = pc.index_in(of(creates["name"]), value_set=pc.unique(of(known["name"])))
        found.append(pc.add(pc.fill_null(place, -1), 1).to_numpy(zero_copy_only=False))
    return np.column_stack(found)


def search(candidate: Candidate, data: Data, trials: int, seed: int) -> dict[str, Any]:
    """Return the parameters with the fewest wrong answers on the last part."""
    every = 1 if candidate.shared else max(len(data.keys) // TRIED_ON, 1)
    labels, truth = data.labels[data.early, ::every], data.labels[data.late, ::every]
    known, tried = ~np.isnan(truth), []
    for parameters in ParameterSampler(candidate.space, trials, random_state=seed):
        predict = candidate.learn(data.matrix[data.early], labels == 1, seed, **parameters)
        wrong = (predict(data.matrix[data.late]) >= 0.5) != (truth == 1)
        tried.append((float(wrong[known].mean()), parameters))
        print(
            f"  {100 * tried[-1][0]:.2f}% wrong: {json.dumps(parameters, default=float)}",
            flush=True,
        )
    return min(tried, key=lambda one: one[0])[1]


def best_in_hindsight(scores: Any, truth: Any) -> float:
    """Return the true positives, in percent, at the lowest threshold that keeps the bound."""
    known = ~np.isnan(truth)
    truths, none = truth[known] == 1, np.zeros(known.sum(), np.int64)
    stream = Stream(("", "directory"), none, scores[known], truths, none, truths, None)
    return 100 * float((stream.answers(stream.best(DEFAULTS.bound)) & truths).mean())


def measure(name: str, data: Data, trials: int, seed: int) -> list[dict[str, Any]]:
    """Search, learn and answer the test: return a row for each predicate."""
    candidate, began = CANDIDATES[name], time.process_time()
    parameters = search(candidate, data, trials, seed) if candidate.space else {}
    searched = time.process_time()
    held, scores = (
        candidate.learn(data.matrix[some], data.labels[some] == 1, seed, **parameters)(rows)
        for some, rows in ((data.early, data.matrix[data.late]), (data.full, data.rows))
    )
    about = {
        "learner": name,
        "parameters": parameters,
        "search": searched - began,
        "learn": time.process_time() - searched,
    }
    rows = judge_all(data.keys, scores, data.truth, held, data.labels[data.late], data.block)
    return [
        about | row | {"best": best_in_hindsight(*columns)}
        for row, *columns in zip(rows, scores.T, data.truth.T, strict=True)
    ]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", type=Path, required=True, metavar="DATASET")
    parser.add_argument("--test", nargs="+", type=Path, required=True, metavar="DATASET")
    parser.add_argument("--trials", type=int, default=8, help="of each learner's search")
    parser.add_argument("--learners", nargs="+", choices=CANDIDATES, default=list(CANDIDATES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    # it warns of categories that it then uses, and of rows without names of columns
    warnings.filterwarnings("ignore", category=UserWarning, module="lightgbm|sklearn")
    data, results = Data.read(asked.train, asked.test), list[dict[str, Any]]()
    lines = [f"{'learner':20}" + "".join(f"{heading:>10}" for heading in FIGURES.values())]
    for name in asked.learners:
        if importlib.util.find_spec(CANDIDATES[name].needs) is None:
            lines.append(f"{name:20}  {CANDIDATES[name].needs} is not installed")
            continue
        print(name, flush=True)
        rows = measure(name, data, asked.trials, asked.seed)
        results += rows
        means = (np.mean([row[figure] for row in rows]) for figure in FIGURES)
        lines.append(f"{name:20}" + "".join(f"{mean:10.2f}" for mean in means))
        if asked.json:
            asked.json.write_text(json.dumps(results, indent=2, default=float) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
