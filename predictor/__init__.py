"""Predicates and the models that predict them."""

from predictor.able_tree import AbleTree, TreePath
from predictor.labels import births, tally
from predictor.name_model import NameModel, Rule
from predictor.parts import DamagedModelError
from predictor.predicates import FILE_PREDICATES, NAME_PREDICATES, Predicate, from_config
from predictor.thresholds import Limit, OperatingPoints, Point
from predictor.trained import KINDS, Answer, TrainedModel

__all__ = [
    "FILE_PREDICATES",
    "KINDS",
    "NAME_PREDICATES",
    "AbleTree",
    "Answer",
    "DamagedModelError",
    "Limit",
    "NameModel",
    "OperatingPoints",
    "Point",
    "Predicate",
    "Rule",
    "TrainedModel",
    "TreePath",
    "births",
    "from_config",
    "tally",
]
