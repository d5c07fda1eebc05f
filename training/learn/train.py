"""Training on the lives of one or more days, and the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.plurals import counted
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.generated import Mark, distinct, in_dataset
from birthmark.data.schema import FILES
from birthmark.data.traces.inputs import reject_duplicates
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor import Predicate, TrainedModel, births
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.fit.best_kind import held_out_errors
from birthmark.predictor.models.kinds import BEST
from birthmark.training.config import Settings
from birthmark.training.engine import learner
from birthmark.training.learn.loss import NONE_TOUCHED, Touched, without_loss
from birthmark.training.learn.profile import profile


class TrainingError(ValueError):
    """There is no training data."""


@dataclass(frozen=True, repr=False)
class Lives:
    """Lives for training, and the names of their datasets.

    `files` and `names` are tables of `data.schema`. `touched` counts lives that loss may have
    affected, and `generated` marks generated traces. `others` has the directories and older files
    of the files tables. `since` is the time before which births were left out, if any.
    """

    datasets: tuple[str, ...]
    files: pa.Table
    names: pa.Table
    touched: Touched = NONE_TOUCHED
    generated: tuple[Mark, ...] = ()
    others: pa.Table = field(default_factory=FILES.empty_table)
    since: datetime | None = None

    def __repr__(self) -> str:
        of = f"{counted(len(self.files), 'files')}, {counted(len(self.names), 'names')}"
        return f"<Lives of {', '.join(self.datasets)}: {of}>"

    def born(self, since: datetime | None = None, before: datetime | None = None) -> Lives:
        """Return the lives that began at `since` or later, and before `before`."""

        def within(table: pa.Table) -> pa.Table:
            if since is not None:
                table = table.filter(pc.greater_equal(table["born"], since))
            if before is not None:
                table = table.filter(pc.less(table["born"], before))
            return table

        return replace(
            self,
            files=within(self.files),
            names=within(self.names),
            since=self.since if since is None else since,
        )

    def with_others(self) -> pa.Table:
        """Return the files table with the rows of `others`, for learning heat."""
        return pa.concat_tables([self.files, self.others]).unify_dictionaries()


def read_lives(datasets: Iterable[Path], leave_out: bool = False) -> Lives:
    """Read the lives with a visible birth from all `datasets`, in this order.

    `leave_out` leaves out lives that loss may have affected. Raises ValueError for duplicates.
    """
    datasets = [Path(path) for path in datasets]
    reject_duplicates(datasets)
    every = [(births(files), _others(files)) for files in map(read_files, datasets)]
    files, others, names = (
        pa.concat_tables(tables).unify_dictionaries()
        for tables in (*zip(*every, strict=True), [births(read_names(d)) for d in datasets])
    )
    files, names, touched = without_loss(files, names, leave_out)
    marks = distinct(mark for path in datasets for mark in in_dataset(path))
    stems = tuple(path.resolve().name for path in datasets)
    return Lives(stems, files, names, touched, tuple(marks), others)


def _others(files: pa.Table) -> pa.Table:
    old = pc.and_(pc.equal(files["kind"], "file"), pc.invert(files["birth_seen"]))
    return files.filter(pc.fill_null(pc.or_(pc.equal(files["kind"], "directory"), old), False))


def train(
    lives: Lives,
    settings: Settings | None = None,
    predicates: Iterable[Predicate] | None = None,
    estimators: Mapping[str, Any] = {},
) -> tuple[TrainedModel, dict[str, Any]]:
    """Train models of the kinds in `settings`; return them and the manifest to store them under.

    `settings` None means the defaults of `birthmark train`, and `predicates` None the built-in
    ones; `estimators` are further kinds by name. The workers of the open engine train them. Raises
    `TrainingError` without births.
    """
    if not len(lives.files):
        raise TrainingError(f"{', '.join(lives.datasets)}: expected files with a visible creation")
    settings = settings or Settings()
    model = TrainedModel(**settings.parameters())
    with learner() as own:
        kinds = settings.trained
        model.train(lives.with_others(), lives.names, predicates, kinds, own, estimators)
    return model, _manifest(model, lives, settings)


def _manifest(model: TrainedModel, lives: Lives, settings: Settings) -> dict[str, Any]:
    since, until = pc.min_max(lives.files["born"]).as_py().values()
    errors = held_out_errors(model.models, settings.point)
    return {
        "serve": settings.serve,
        "kinds": _chosen(model),
        "held_out_errors": {kind: 100 * share for kind, share in errors.items()},
        "point": settings.point,
        "parameters": model.parameters,
        "settings": settings.model_dump(mode="json"),
        "seed": settings.seed,
        "trained_on": {
            "datasets": list(lives.datasets),
            "generated": list(lives.generated),
            "servers": pc.unique(pc.cast(lives.files["server"], pa.utf8())).sort().to_pylist(),
            "from": lives.since and lives.since.isoformat(),
            "since": since.isoformat(),
            "until": until.isoformat(),
            "files": len(lives.files),
            "names": len(lives.names),
            "loss": lives.touched.to_json(),
            "labels": model.tallies,
        },
        "inputs": profile(lives.files).to_json(),
        "rules": _rules(model),
        "figures": [],
    }


def _rules(model: TrainedModel) -> dict[str, int]:
    """Return the number of rules of each name model by key, if there are any."""
    return {key: len(own.rules_) for key, own in model.models.get("name", {}).items()}


def _chosen(model: TrainedModel) -> dict[str, Any]:
    """Return the best kind by operating point, predicate and history scope.

    Empty if there is only one kind.
    """
    if BEST not in model.kinds:
        return {}
    best = model.of_kind(BEST)
    return {
        point: {
            key: {scope: best.at(point).kind_of(key, scope) for scope in HISTORY_SCOPES}
            for key in model.predicates
        }
        for point in POINTS
    }
