"""Every predicate that needs no configuration."""

from __future__ import annotations

from birthmark.predictor.predicates.builtin import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.heat import DIRECTORY_PREDICATES, HEAT_PREDICATES

REGISTRIES = (
    FILE_PREDICATES,
    HEAT_PREDICATES,
    NAME_PREDICATES,
    DIRECTORY_PREDICATES,
)
"""Predicates by name; a module that defines more of them adds its own here."""

BUILT_IN = {predicate.key: predicate for each in REGISTRIES for predicate in each.values()}
"""The predicates of all registries, by key."""
