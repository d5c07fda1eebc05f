"""Questions about lives: the thesis's, and those that users define."""

from predictor.predicates.builtin import FILE_PREDICATES, NAME_PREDICATES
from predictor.predicates.config import from_config
from predictor.predicates.predicate import Predicate, Subject

__all__ = ["FILE_PREDICATES", "NAME_PREDICATES", "Predicate", "Subject", "from_config"]
