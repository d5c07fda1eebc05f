"""Questions about lives: the thesis's, and those that users define."""

from birthmark.predictor.predicates.builtin import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.config import BUILT_IN, check, from_config, own_predicate
from birthmark.predictor.predicates.heat import DIRECTORY_PREDICATES, HEAT_PREDICATES
from birthmark.predictor.predicates.predicate import Predicate, Subject

__all__ = [
    "BUILT_IN",
    "DIRECTORY_PREDICATES",
    "FILE_PREDICATES",
    "HEAT_PREDICATES",
    "NAME_PREDICATES",
    "Predicate",
    "Subject",
    "check",
    "from_config",
    "own_predicate",
]
