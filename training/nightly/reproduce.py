"""A check that training again reproduces a version byte by byte."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from birthmark.predictor.models.kinds import BEST
from birthmark.training.config import Settings, Training
from birthmark.training.learn.train import read_lives
from birthmark.training.nightly.candidate import Candidate, train_alone, train_candidate
from birthmark.training.registry.stored import Stored, load
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import CARD_HTML, CARD_JSON


@dataclass(frozen=True)
class Reproduction:
    """The result of training again: the parts that are the `same`, and the first that is not.

    `differs` names that part and the place. `not_compared` are parts that depend on a version that
    was removed.
    """

    same: list[str]
    not_compared: list[str]
    differs: str | None = None


def reproduce(registry: Registry, version: str, datasets: Path) -> Reproduction:
    """Train `version` again from the datasets of the same names in `datasets`, and compare.

    Raises `RegistryError` if the version is damaged, or its manifest lacks settings.
    """
    stored = load(registry, version)
    champion = stored.manifest.get("compared_with")
    before = load(registry, champion) if champion in registry.versions() else None
    candidate = _again(stored, before, datasets)
    gone = {CARD_HTML, CARD_JSON} if champion and before is None else set()
    directory = registry.directory(version)
    with tempfile.TemporaryDirectory() as scratch:
        candidate.write_parts(Path(scratch))
        return _compare(directory, stored.manifest["parts"], Path(scratch), gone)


def _again(stored: Stored, champion: Stored | None, datasets: Path) -> Candidate:
    manifest = stored.manifest
    if "settings" not in manifest:
        raise RegistryError(f"{stored.version}: expected its training settings")
    settings = _settings(stored)
    trained = manifest["trained_on"]
    lives = read_lives([datasets / name for name in trained["datasets"]], settings.without_loss)
    if trained["from"] is not None:
        lives = lives.born(since=datetime.fromisoformat(trained["from"]))
    predicates, estimators = list(stored.model.predicates.values()), stored.model.estimators
    if manifest["judged"] and isinstance(settings, Training):
        return train_candidate(champion, lives, settings, predicates, estimators)[0]
    return train_alone(champion, lives, settings, predicates, manifest["tested"], estimators)


def _settings(stored: Stored) -> Settings:
    """Return the settings of a version's training, for its kinds."""
    settings = stored.manifest["settings"]
    if "window_days" not in settings:
        return Settings.model_validate(settings)
    kinds = [kind for kind in stored.model.kinds if kind != BEST]
    return Training.model_validate({**settings, "kinds": kinds})


def _compare(
    directory: Path, parts: Mapping[str, Any], again: Path, gone: set[str]
) -> Reproduction:
    new = {path.relative_to(again).as_posix() for path in again.rglob("*") if path.is_file()}
    same: list[str] = []
    for name in sorted({*parts, *new} - gone):
        if name not in new or name not in parts:
            which = "the stored version" if name in parts else "the one trained again"
            return Reproduction(same, sorted(gone), f"{name} is only in {which}")
        first = _first_difference((directory / name).read_bytes(), (again / name).read_bytes())
        if first is not None:
            return Reproduction(same, sorted(gone), f"{name} differs from byte {first} on")
        same.append(name)
    return Reproduction(same, sorted(gone))


def _first_difference(one: bytes, other: bytes) -> int | None:
    if one == other:
        return None
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
