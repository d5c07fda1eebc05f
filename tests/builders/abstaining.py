"""Thresholds as audits write them, above all scores."""

from __future__ import annotations

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.image.forest import NEVER
from birthmark.predictor.trained import read_description
from birthmark.training.registry.thresholds import (
    MovedThreshold,
    MovedThresholds,
    write_registry,
)
from birthmark.training.registry.versions import Registry


def abstain(registry: Registry, *predicates: str, kind: str | None = None) -> None:
    """Let the published version abstain on predicates: a tenth of 1,000 files got a wrong yes."""
    version = registry.current()
    assert version is not None
    bound = read_description(registry.directory(version))["parameters"]["bound"]
    kind = kind or registry.manifest(version)["serve"]
    write_registry(registry, above_all_scores(version, kind, bound, *predicates))


def above_all_scores(version: str, kind: str, bound: float, *predicates: str) -> MovedThresholds:
    """Return thresholds of a version that no score of these predicates reaches."""
    rows = [
        MovedThreshold(
            predicate=key,
            told=scope,
            calibrated=None,
            score=None,
            sum=NEVER,
            outcomes=1000,
            false_positives=100,
        )
        for key in predicates
        for scope in HISTORY_SCOPES
    ]
    return MovedThresholds(version=version, kind=kind, bound=bound, clock=0, thresholds=rows)
