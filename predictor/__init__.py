"""Predicates and the models that predict them.

Each name is loaded when it is first used: who asks what kinds of models there are needs none.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.predictor.answers.operating_points import OperatingPoints
    from birthmark.predictor.answers.point import Point
    from birthmark.predictor.fit.thresholds import Limit
    from birthmark.predictor.labels import births, tally
    from birthmark.predictor.models.able.estimator import AbleTree
    from birthmark.predictor.models.able.model import TreePath
    from birthmark.predictor.models.forest.estimator import ForestModel
    from birthmark.predictor.models.kinds import KINDS, Kind
    from birthmark.predictor.models.model_set import Answer
    from birthmark.predictor.models.name.estimator import NameModel
    from birthmark.predictor.models.name.model import Rule
    from birthmark.predictor.models.rules.estimator import RuleModel
    from birthmark.predictor.parts import DamagedModelError
    from birthmark.predictor.predicates import (
        BUILT_IN,
        DIRECTORY_PREDICATES,
        FILE_PREDICATES,
        HEAT_PREDICATES,
        NAME_PREDICATES,
        Predicate,
        from_config,
    )
    from birthmark.predictor.trained import TrainedModel

_HOMES = {
    "AbleTree": "birthmark.predictor.models.able.estimator",
    "Answer": "birthmark.predictor.models.model_set",
    "BUILT_IN": "birthmark.predictor.predicates",
    "DIRECTORY_PREDICATES": "birthmark.predictor.predicates",
    "DamagedModelError": "birthmark.predictor.parts",
    "FILE_PREDICATES": "birthmark.predictor.predicates",
    "ForestModel": "birthmark.predictor.models.forest.estimator",
    "HEAT_PREDICATES": "birthmark.predictor.predicates",
    "KINDS": "birthmark.predictor.models.kinds",
    "Kind": "birthmark.predictor.models.kinds",
    "Limit": "birthmark.predictor.fit.thresholds",
    "NAME_PREDICATES": "birthmark.predictor.predicates",
    "NameModel": "birthmark.predictor.models.name.estimator",
    "OperatingPoints": "birthmark.predictor.answers.operating_points",
    "Point": "birthmark.predictor.answers.point",
    "Predicate": "birthmark.predictor.predicates",
    "Rule": "birthmark.predictor.models.name.model",
    "RuleModel": "birthmark.predictor.models.rules.estimator",
    "TrainedModel": "birthmark.predictor.trained",
    "TreePath": "birthmark.predictor.models.able.model",
    "births": "birthmark.predictor.labels",
    "from_config": "birthmark.predictor.predicates",
    "tally": "birthmark.predictor.labels",
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
