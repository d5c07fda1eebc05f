"""Predicates and the models that predict them."""

from predictor.able_tree import AbleTree, TreePath
from predictor.forest_model import ForestModel
from predictor.labels import births, tally
from predictor.model_set import Kind
from predictor.name_model import NameModel, Rule
from predictor.parts import DamagedModelError
from predictor.predicates import (
    BUILT_IN,
    DIRECTORY_PREDICATES,
    FILE_PREDICATES,
    HEAT_PREDICATES,
    NAME_PREDICATES,
    Predicate,
    from_config,
)
from predictor.rule_model import RuleModel
from predictor.thresholds import Limit, OperatingPoints, Point
from predictor.trained import KINDS, Answer, TrainedModel

__all__ = [
    "BUILT_IN",
    "DIRECTORY_PREDICATES",
    "FILE_PREDICATES",
    "HEAT_PREDICATES",
    "KINDS",
    "NAME_PREDICATES",
    "AbleTree",
    "Answer",
    "DamagedModelError",
    "ForestModel",
    "Kind",
    "Limit",
    "NameModel",
    "OperatingPoints",
    "Point",
    "Predicate",
    "Rule",
    "RuleModel",
    "TrainedModel",
    "TreePath",
    "births",
    "from_config",
    "tally",
]
