"""HotName as kernels ask it: learned from all files seen, and only from what a kernel knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import filled
from birthmark.features import CREATES
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.learning import Learner, Lesson, Sets
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates import HEAT_PREDICATES, blocks

HOT_NAME = "HotName"
"""The one predicate that these models are of."""

_FOLDER = "hints"


def train(
    sets: Sets,
    files: pa.Table,
    parameters: Mapping[str, Any],
    learner: Learner,
    best: BestModels | None = None,
) -> None:
    """Train one model of each kind in ``sets`` on the regular files of a files table.

    ``best`` is to have the one that errs least.

    A file that was there before the trace is a No, if nothing is known of its heat: it did not
    live shortly. Births alone would not tell what the files are called that last: where nearly all
    births are locks, a model of them takes any name for one.

    A file with data is a No, too. What lives for five seconds is gone before the syncer writes its
    blocks: a region would gain its inode only, and have the less room for what is written over and
    over. And what is written out at once, as journals are, comes in long runs, which the region's
    pieces break.
    """
    lives = _files(files)
    answers = HEAT_PREDICATES[HOT_NAME].evaluate(lives)
    labels = pc.if_else(pc.and_(answers.is_null(), pc.invert(lives["birth_seen"])), False, answers)
    labels = pc.and_kleene(labels, pc.equal(blocks.own_blocks(lives), 0.0))
    answers = {HOT_NAME: labels.combine_chunks()}
    holdout = Holdout.of(lives, parameters["calibration"])
    learner.learn(sets, Lesson(_creates(lives), answers, holdout, parameters), best)


def save(sets: Mapping[str, ModelSet[Any]], directory: Path) -> list[str]:
    """Write ``sets`` to files in a folder of ``directory``; return their names."""
    if not sets:
        return []
    (directory / _FOLDER).mkdir(exist_ok=True)
    names = [name for models in sets.values() for name in models.save(directory / _FOLDER)]
    return [f"{_FOLDER}/{name}" for name in names]


def load(
    models: type[ModelSet[Any]], directory: Path, parameters: Mapping[str, Any], counts: bool
) -> ModelSet[Any]:
    """Return what was saved of one kind (see ``ModelSet.load``)."""
    return models.load(directory / _FOLDER, [HOT_NAME], models.own(parameters), counts)


def _files(files: pa.Table) -> pa.Table:
    files = files.filter(pc.equal(files["kind"], "file"))
    since = pc.coalesce(files["born"], files["first_seen"])
    return files.set_column(files.schema.get_field_index("born"), "born", since)


def _creates(lives: pa.Table) -> pa.Table:
    """Return what a kernel knows of creates: the name and who makes it; of old files the owner."""
    known = {
        "name": lives["name"],
        "uid": pc.coalesce(lives["uid"], lives["owner"]),
        "gid": pc.coalesce(lives["gid"], lives["group"]),
    }
    return filled(pa.table(known), CREATES)
