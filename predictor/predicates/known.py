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
"""Registries of predicates by name; a module with more predicates adds its registry here."""

BUILT_IN = {predicate.key: predicate for by_name in REGISTRIES for predicate in by_name.values()}
"""The predicates of all registries, by key."""
