"""HotName for kernels: learned from all files, by the attributes that a kernel knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import filled
from birthmark.features import CREATES
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.learning import Learner, Sets, TrainingSet
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.parts import Part
from birthmark.predictor.predicates import HEAT_PREDICATES, blocks

HOT_NAME = "HotName"
"""The only predicate of these models."""

_FOLDER = "hints"


def train(
    sets: Sets,
    files: pa.Table,
    parameters: Mapping[str, Any],
    learner: Learner,
    best: BestModels | None = None,
) -> None:
    """Train one model of each kind in ``sets`` on the regular files of a files table.

    ``best`` gets the kind with the fewest errors.

    A file that existed before the trace is a No if its heat is unknown: it was not short-lived.
    Births alone would not show the names of lasting files: where nearly all births are locks, a
    model of them predicts a lock for any name.

    A file with data is a No, too. A file that lives for five seconds is deleted before the syncer
    writes its blocks. The region would gain only its inode, and lose room for blocks that are
    written repeatedly. Files that are flushed at once, such as journals, are written in long runs,
    which the region's pieces would break up.
    """
    lives = _files(files)
    answers = HEAT_PREDICATES[HOT_NAME].evaluate(lives)
    labels = pc.if_else(pc.and_(answers.is_null(), pc.invert(lives["birth_seen"])), False, answers)
    labels = pc.and_kleene(labels, pc.equal(blocks.own_blocks(lives), 0.0))
    answers = {HOT_NAME: labels.combine_chunks()}
    holdout = Holdout.of(lives, parameters["calibration"])
    learner.learn(sets, TrainingSet(_creates(lives), answers, holdout, parameters), best)


def save(sets: Mapping[str, ModelSet[Any]], directory: Part) -> list[str]:
    """Write ``sets`` to files in a folder of ``directory``; return their names."""
    if not sets:
        return []
    names = [name for models in sets.values() for name in models.save(directory / _FOLDER)]
    return [f"{_FOLDER}/{name}" for name in names]


def load(
    models: type[ModelSet[Any]], directory: Part, parameters: Mapping[str, Any], counts: bool
) -> ModelSet[Any]:
    """Return the saved models of one kind (see ``ModelSet.load``)."""
    return models.load(directory / _FOLDER, [HOT_NAME], models.own_parameters(parameters), counts)


def _files(files: pa.Table) -> pa.Table:
    files = files.filter(pc.equal(files["kind"], "file"))
    since = pc.coalesce(files["born"], files["first_seen"])
    return files.set_column(files.schema.get_field_index("born"), "born", since)


def _creates(lives: pa.Table) -> pa.Table:
    """Return what a kernel knows of creates: the name and the caller (of old files, the owner)."""
    columns = {
        "name": lives["name"],
        "uid": pc.coalesce(lives["uid"], lives["owner"]),
        "gid": pc.coalesce(lives["gid"], lives["group"]),
    }
    return filled(pa.table(columns), CREATES)
