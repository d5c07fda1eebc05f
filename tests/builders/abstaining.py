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
    moved = MovedThresholds(
        version=version,
        kind=kind or registry.manifest(version)["serve"],
        bound=read_description(registry.directory(version))["parameters"]["bound"],
        clock=0,
        thresholds=rows,
    )
    write_registry(registry, moved)
