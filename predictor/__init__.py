"""Predicates and the models that predict them.

Each name is loaded when it is first used: who asks what kinds of models there are needs none.
"""

from typing import TYPE_CHECKING

from data.lazy import offered

if TYPE_CHECKING:
    from predictor.able_tree import TreePath
    from predictor.estimators import AbleTree, ForestModel, NameModel, RuleModel
    from predictor.kinds import Kind, Point
    from predictor.labels import births, tally
    from predictor.model_set import Answer
    from predictor.name_model import Rule
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
    from predictor.thresholds import Limit, OperatingPoints
    from predictor.trained import KINDS, TrainedModel

_HOMES = {
    "AbleTree": "predictor.estimators",
    "Answer": "predictor.model_set",
    "BUILT_IN": "predictor.predicates",
    "DIRECTORY_PREDICATES": "predictor.predicates",
    "DamagedModelError": "predictor.parts",
    "FILE_PREDICATES": "predictor.predicates",
    "ForestModel": "predictor.estimators",
    "HEAT_PREDICATES": "predictor.predicates",
    "KINDS": "predictor.trained",
    "Kind": "predictor.kinds",
    "Limit": "predictor.thresholds",
    "NAME_PREDICATES": "predictor.predicates",
    "NameModel": "predictor.estimators",
    "OperatingPoints": "predictor.thresholds",
    "Point": "predictor.kinds",
    "Predicate": "predictor.predicates",
    "Rule": "predictor.name_model",
    "RuleModel": "predictor.estimators",
    "TrainedModel": "predictor.trained",
    "TreePath": "predictor.able_tree",
    "births": "predictor.labels",
    "from_config": "predictor.predicates",
    "tally": "predictor.labels",
}

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

__getattr__ = offered(__name__, _HOMES)
