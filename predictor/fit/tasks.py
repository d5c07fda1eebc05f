"""Training in parallel tasks that exchange results in files.

A training set is a table in a file. For models made of counts
(``predictor.models.components.set``) tasks count its rows slice by slice and fold by fold; the
counts add up to those of all births, and of all but a fold. Other kinds cannot be merged from
partial counts: a task trains the final models, and one more the models that score each fold. The
models equal those that one process trains.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from joblib import delayed

from birthmark.data.common import durable
from birthmark.features.columns import names_of
from birthmark.predictor.fit.best_kind import ScoresByScope
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.learning import Sets, TrainingSet
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.components.counts import COUNTS, added, count
from birthmark.predictor.models.model_set import ModelSet

SLICE = 1 << 20
"""Rows counted by one task: seconds of work, much more than its start takes, in little memory."""

_LABEL = "label "
_REST = b"training set"
_TABLE = "training_set.arrow"
_SCORES = "scores.npy"
_COUNTED = pa.schema([("fold", pa.int64()), ("predicate", pa.utf8()), *COUNTS])

Run = Callable[[Iterable[Any]], list[Any]]
"""Runs tasks of joblib and returns their results in order."""


class TaskLearner:
    """Trains models in tasks, run by ``run``, that use files in ``directory``."""

    def __init__(self, directory: Path, run: Run, slice_rows: int = SLICE) -> None:
        self._directory, self._run, self._slice_rows = directory, run, slice_rows
        self._training_sets: dict[Path, tuple[Sets, BestModels | None]] = {}

    def learn(self, sets: Sets, training_set: TrainingSet, best: BestModels | None = None) -> None:
        """See ``predictor.fit.learning.Learner``."""
        if training_set.labels:
            folder = self._directory / f"training_set{len(self._training_sets)}"
            folder.mkdir()
            write_training_set(training_set, folder, self._slice_rows)
            self._training_sets[folder] = sets, best

    def finish(self) -> None:
        """Train all."""
        read = {folder: read_training_set(folder) for folder in self._training_sets}
        self._run(
            delayed(count_slice)(folder, number)
            for folder, (sets, _) in self._training_sets.items()
            if any(models.add_up for models in sets.values())
            for number in range(_slices(folder))
        )
        self._run(
            delayed(train_task)(folder, type(models), fold)
            for folder, (sets, _) in self._training_sets.items()
            for models in reversed(list(sets.values()))  # the slowest kind first
            for fold in _task_folds(read[folder].holdout)
        )
        for folder, (sets, best) in self._training_sets.items():
            fold_scores = {}
            for kind, models in sets.items():
                fold_scores[kind] = _fold_scores(read[folder], folder, type(models))
                part = _gathered(read[folder], folder, type(models), fold_scores[kind])
                models.update(part)
                for scope, points in part.points.items():
                    models.points.setdefault(scope, {}).update(points)
            if best is not None:
                read[folder].choose(best, fold_scores)


def _task_folds(holdout: Holdout) -> list[int | None]:
    """Return the tasks of a kind: the final models (None), and the folds to leave out and score."""
    return [None, *(holdout.folds if holdout.crossed else ())]


def write_training_set(training_set: TrainingSet, folder: Path, slice_rows: int) -> None:
    """Write a training set to a folder, in slices of ``slice_rows`` rows."""
    table = training_set.creates
    columns = {_LABEL + key: answers for key, answers in training_set.labels.items()}
    columns |= {
        "fold": pa.array(training_set.holdout.fold),
        "block": pa.array(training_set.holdout.block),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    rest = json.dumps(
        {"parameters": dict(training_set.parameters), "assignments": training_set.assignments}
    )
    table = table.unify_dictionaries().replace_schema_metadata({_REST: rest})
    with pa.ipc.new_file(str(folder / _TABLE), table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=slice_rows)


def read_training_set(folder: Path, number: int | None = None) -> TrainingSet:
    """Return the training set in a folder, or one slice of it."""
    with pa.memory_map(str(folder / _TABLE)) as file, pa.ipc.open_file(file) as reader:
        if number is None:
            table = reader.read_all()
        else:
            table = pa.Table.from_batches([reader.get_batch(number)])
    labels = [name for name in table.column_names if name.startswith(_LABEL)]
    holdout = Holdout(table["block"].to_numpy(), table["fold"].to_numpy())
    return TrainingSet(
        table.drop_columns([*labels, "fold", "block"]),
        {name.removeprefix(_LABEL): table[name].combine_chunks() for name in labels},
        holdout,
        **json.loads(table.schema.metadata[_REST]),
    )


def _slices(folder: Path) -> int:
    with pa.memory_map(str(folder / _TABLE)) as file, pa.ipc.open_file(file) as reader:
        return int(reader.num_record_batches)


def count_slice(folder: Path, number: int) -> None:
    """Count the components of a slice's names, fold by fold, into a file."""
    durable.made(folder / f"counts{number}.arrow", lambda out: _count(folder, number, out))


def _count(folder: Path, number: int, out: Path) -> None:
    training_set = read_training_set(folder, number)
    names, folds = names_of(training_set.creates.select(["name"])), training_set.holdout.fold
    tables = [_COUNTED.empty_table()]
    for fold in np.unique(folds):
        rows = pa.array(folds == fold)
        labels = {key: answers.filter(rows) for key, answers in training_set.labels.items()}
        for key, counts in count(
            names.filter(rows), labels, training_set.parameters["prefix"]
        ).items():
            group = [pa.repeat(pa.scalar(int(fold)), len(counts)), pa.repeat(key, len(counts))]
            tables.append(pa.table([*group, *counts.columns], schema=_COUNTED))
    with pa.ipc.new_file(str(out), _COUNTED) as writer:
        writer.write_table(pa.concat_tables(tables))


def train_task(folder: Path, kind: type[ModelSet[Any]], fold: int | None) -> None:
    """Train a kind of models on a training set, or on all of it but a fold.

    The files have the models, or their scores of the fold's births.
    """
    durable.made(_place(folder, kind, fold), lambda out: _train(folder, kind, fold, out))


def _place(folder: Path, kind: type[ModelSet[Any]], fold: int | None) -> Path:
    return folder / f"{kind.kind}-{'all' if fold is None else fold}"


def _train(folder: Path, kind: type[ModelSet[Any]], fold: int | None, out: Path) -> None:
    training_set = read_training_set(folder)
    holdout = training_set.holdout
    mask = holdout.learned if fold is None else holdout.fold != fold
    if kind.add_up:
        counts = _added(folder, training_set, np.unique(holdout.fold[mask]).tolist())
        models = kind.from_counts(counts, **kind.own_parameters(training_set.parameters))
    else:
        models = training_set.train(kind(), mask)
    out.mkdir()
    if fold is None:
        models.save(out)
    folds = [fold] if fold is not None else [] if holdout.crossed else holdout.folds
    for scored in folds:
        by_scope = training_set.scores(models, scored).values()
        rows = [[scores[key] for key in training_set.labels] for scores in by_scope]
        np.save(out / _SCORES, np.stack(rows))


def _added(folder: Path, training_set: TrainingSet, folds: Sequence[int]) -> dict[str, pa.Table]:
    """Return by label the counts of folds, all slices together."""
    tables = [_COUNTED.empty_table()]
    for number in range(_slices(folder)):
        with pa.memory_map(str(folder / f"counts{number}.arrow")) as file:
            table = pa.ipc.open_file(file).read_all()
        tables.append(table.filter(pc.is_in(table["fold"], pa.array(folds, pa.int64()))))
    counts = pa.concat_tables(tables)
    return {
        key: added(counts.filter(pc.equal(counts["predicate"], key)).select(COUNTS.names))
        for key in training_set.labels
    }


def _fold_scores(
    training_set: TrainingSet, folder: Path, kind: type[ModelSet[Any]]
) -> list[ScoresByScope]:
    """Return the scores of each fold, mapped from the files."""
    fold_scores: list[ScoresByScope] = []
    for fold in training_set.holdout.folds:
        path = _place(folder, kind, fold if training_set.holdout.crossed else None) / _SCORES
        scores = np.load(path, mmap_mode="r", allow_pickle=False)
        saved = zip(training_set.scopes(kind), scores, strict=True)
        fold_scores.append(
            {scope: dict(zip(training_set.labels, rows, strict=True)) for scope, rows in saved}
        )
    return fold_scores


def _gathered(
    training_set: TrainingSet,
    folder: Path,
    kind: type[ModelSet[Any]],
    fold_scores: Sequence[ScoresByScope],
) -> ModelSet[Any]:
    """Return trained models with their operating points."""
    parameters = kind.own_parameters(training_set.parameters)
    models = kind.load(_place(folder, kind, None), training_set.labels, parameters, counts=True)
    for key in training_set.labels:  # in the order of training
        models[key] = models.pop(key)
    training_set.finish(models, fold_scores)
    return models
