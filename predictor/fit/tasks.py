"""Training in tasks, which run side by side and hand their results on in files.

A lesson is a table in a file. Its rows are counted slice by slice and fold by fold: for models that
are made of counts (``predictor.models.components.set``) these add up, to all births and to all but
those of a fold. The other kinds are not made of what adds up. Of them each set that learns from
births of its own is a task: that which is kept, and those that score the births of a fold. The
models are the same as if they learned in one process.
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
from birthmark.predictor.fit.best_kind import ByTold
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.learning import Lesson, Sets
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.components.counts import COUNTS, added, count
from birthmark.predictor.models.model_set import ModelSet

SLICE = 1 << 20
"""How many rows are counted by one task: work for seconds, beside which its start does not matter,
in memory that every worker has."""

_LABEL = "label "
_REST = b"lesson"
_SCORES = "scores.npy"
_COUNTED = pa.schema([("fold", pa.int64()), ("predicate", pa.utf8()), *COUNTS])

Run = Callable[[Iterable[Any]], list[Any]]
"""Runs tasks of joblib and returns what they return, in their order."""


class TaskLearner:
    """Lets models learn in tasks, run by ``run``, that use files in ``directory``."""

    def __init__(self, directory: Path, run: Run, slice_rows: int = SLICE) -> None:
        self._directory, self._run, self._slice_rows = directory, run, slice_rows
        self._lessons: dict[Path, tuple[Sets, BestModels | None]] = {}

    def learn(self, sets: Sets, lesson: Lesson, best: BestModels | None = None) -> None:
        """See ``predictor.fit.learning.Learner``."""
        if lesson.labels:
            folder = self._directory / f"lesson{len(self._lessons)}"
            folder.mkdir()
            write_lesson(lesson, folder, self._slice_rows)
            self._lessons[folder] = sets, best

    def finish(self) -> None:
        """Train all."""
        read = {folder: read_lesson(folder) for folder in self._lessons}
        self._run(
            delayed(count_slice)(folder, number)
            for folder, (sets, _) in self._lessons.items()
            if any(models.add_up for models in sets.values())
            for number in range(_slices(folder))
        )
        self._run(
            delayed(train_task)(folder, type(models), fold)
            for folder, (sets, _) in self._lessons.items()
            for models in reversed(list(sets.values()))  # the slowest kind first
            for fold in _trained(read[folder].holdout)
        )
        for folder, (sets, best) in self._lessons.items():
            found = {}
            for kind, models in sets.items():
                found[kind] = _found(read[folder], folder, type(models))
                part = _gathered(read[folder], folder, type(models), found[kind])
                models.update(part)
                for told, points in part.points.items():
                    models.points.setdefault(told, {}).update(points)
            if best is not None:
                read[folder].choose(best, found)


def _trained(holdout: Holdout) -> list[int | None]:
    """Return whom a kind of models is trained for: itself (None), and folds to score."""
    return [None, *(holdout.folds if holdout.crossed else ())]


def write_lesson(lesson: Lesson, folder: Path, slice_rows: int) -> None:
    """Write a lesson to a folder, in slices of so many rows."""
    table = lesson.creates
    columns = {_LABEL + key: answers for key, answers in lesson.labels.items()}
    columns |= {"fold": pa.array(lesson.holdout.fold), "block": pa.array(lesson.holdout.block)}
    for name, column in columns.items():
        table = table.append_column(name, column)
    rest = json.dumps({"parameters": dict(lesson.parameters), "worlds": lesson.worlds})
    table = table.unify_dictionaries().replace_schema_metadata({_REST: rest})
    with pa.ipc.new_file(str(folder / "lesson.arrow"), table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=slice_rows)


def read_lesson(folder: Path, number: int | None = None) -> Lesson:
    """Return the lesson in a folder, or one slice of it."""
    with pa.memory_map(str(folder / "lesson.arrow")) as file, pa.ipc.open_file(file) as reader:
        if number is None:
            table = reader.read_all()
        else:
            table = pa.Table.from_batches([reader.get_batch(number)])
    labels = [name for name in table.column_names if name.startswith(_LABEL)]
    holdout = Holdout(table["block"].to_numpy(), table["fold"].to_numpy())
    return Lesson(
        table.drop_columns([*labels, "fold", "block"]),
        {name.removeprefix(_LABEL): table[name].combine_chunks() for name in labels},
        holdout,
        **json.loads(table.schema.metadata[_REST]),
    )


def _slices(folder: Path) -> int:
    with pa.memory_map(str(folder / "lesson.arrow")) as file, pa.ipc.open_file(file) as reader:
        return int(reader.num_record_batches)


def count_slice(folder: Path, number: int) -> None:
    """Count the components of a slice's names, fold by fold, into a file."""
    durable.made(folder / f"counts{number}.arrow", lambda aside: _count(folder, number, aside))


def _count(folder: Path, number: int, out: Path) -> None:
    lesson = read_lesson(folder, number)
    names, fold = names_of(lesson.creates.select(["name"])), lesson.holdout.fold
    tables = [_COUNTED.empty_table()]
    for own in np.unique(fold):
        rows = pa.array(fold == own)
        labels = {key: answers.filter(rows) for key, answers in lesson.labels.items()}
        for key, counts in count(names.filter(rows), labels, lesson.parameters["prefix"]).items():
            which = [pa.repeat(pa.scalar(int(own)), len(counts)), pa.repeat(key, len(counts))]
            tables.append(pa.table([*which, *counts.columns], schema=_COUNTED))
    with pa.ipc.new_file(str(out), _COUNTED) as writer:
        writer.write_table(pa.concat_tables(tables))


def train_task(folder: Path, kind: type[ModelSet[Any]], fold: int | None) -> None:
    """Train a kind of models on a lesson, or on all of it but a fold.

    What is kept are the models, or how they score the births of the fold.
    """
    durable.made(_place(folder, kind, fold), lambda aside: _train(folder, kind, fold, aside))


def _place(folder: Path, kind: type[ModelSet[Any]], fold: int | None) -> Path:
    return folder / f"{kind.kind}-{'all' if fold is None else fold}"


def _train(folder: Path, kind: type[ModelSet[Any]], fold: int | None, out: Path) -> None:
    lesson = read_lesson(folder)
    holdout = lesson.holdout
    mask = holdout.learned if fold is None else holdout.fold != fold
    if kind.add_up:
        counts = _added(folder, lesson, np.unique(holdout.fold[mask]).tolist())
        models = kind.from_counts(counts, **kind.own(lesson.parameters))
    else:
        models = lesson.train(kind(), mask)
    out.mkdir()
    if fold is None:
        models.save(out)
    scored = [fold] if fold is not None else [] if holdout.crossed else holdout.folds
    for own in scored:
        found = lesson.scores(models, own).values()
        np.save(out / _SCORES, np.stack([[own[key] for key in lesson.labels] for own in found]))


def _added(folder: Path, lesson: Lesson, folds: Sequence[int]) -> dict[str, pa.Table]:
    """Return by label what was counted in folds, all slices together."""
    tables = [_COUNTED.empty_table()]
    for number in range(_slices(folder)):
        with pa.memory_map(str(folder / f"counts{number}.arrow")) as file:
            table = pa.ipc.open_file(file).read_all()
        tables.append(table.filter(pc.is_in(table["fold"], pa.array(folds, pa.int64()))))
    every = pa.concat_tables(tables)
    return {
        key: added(every.filter(pc.equal(every["predicate"], key)).select(COUNTS.names))
        for key in lesson.labels
    }


def _found(lesson: Lesson, folder: Path, kind: type[ModelSet[Any]]) -> list[ByTold]:
    """Return how models scored the births of each fold; it stays in the files until it is used."""
    found: list[ByTold] = []
    for fold in lesson.holdout.folds:
        path = _place(folder, kind, fold if lesson.holdout.crossed else None) / _SCORES
        scores = np.load(path, mmap_mode="r", allow_pickle=False)
        saved = zip(lesson.told(kind), scores, strict=True)
        found.append({told: dict(zip(lesson.labels, own, strict=True)) for told, own in saved})
    return found


def _gathered(
    lesson: Lesson, folder: Path, kind: type[ModelSet[Any]], found: Sequence[ByTold]
) -> ModelSet[Any]:
    """Return trained models with their operating points."""
    own = kind.own(lesson.parameters)
    models = kind.load(_place(folder, kind, None), lesson.labels, own, counts=True)
    for key in lesson.labels:  # in the order in which they were learned
        models[key] = models.pop(key)
    lesson.finish(models, found)
    return models
