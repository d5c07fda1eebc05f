"""Predicates and the models that predict them.

Names are loaded lazily: listing the kinds of models imports none of them.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.predictor.answers.operating_points import OperatingPoints as OperatingPoints
    from birthmark.predictor.answers.point import Point as Point
    from birthmark.predictor.fit.thresholds import Limit as Limit
    from birthmark.predictor.fit.time_blocks import TimeBlocks as TimeBlocks
    from birthmark.predictor.labels import births as births
    from birthmark.predictor.labels import tally as tally
    from birthmark.predictor.models.able.estimator import AbleTree as AbleTree
    from birthmark.predictor.models.able.model import TreePath as TreePath
    from birthmark.predictor.models.estimators.encoder import CreateEncoder as CreateEncoder
    from birthmark.predictor.models.forest.estimator import ForestModel as ForestModel
    from birthmark.predictor.models.kinds import KINDS as KINDS
    from birthmark.predictor.models.kinds import Kind as Kind
    from birthmark.predictor.models.model_set import Answer as Answer
    from birthmark.predictor.models.name.estimator import NameModel as NameModel
    from birthmark.predictor.models.name.model import Rule as Rule
    from birthmark.predictor.models.rules.estimator import RuleModel as RuleModel
    from birthmark.predictor.parts import DamagedModelError as DamagedModelError
    from birthmark.predictor.predicates import BUILT_IN as BUILT_IN
    from birthmark.predictor.predicates import DIRECTORY_PREDICATES as DIRECTORY_PREDICATES
    from birthmark.predictor.predicates import FILE_PREDICATES as FILE_PREDICATES
    from birthmark.predictor.predicates import HEAT_PREDICATES as HEAT_PREDICATES
    from birthmark.predictor.predicates import NAME_PREDICATES as NAME_PREDICATES
    from birthmark.predictor.predicates import Predicate as Predicate
    from birthmark.predictor.predicates import from_config as from_config
    from birthmark.predictor.predicates import own_predicate as own_predicate
    from birthmark.predictor.trained import TrainedModel as TrainedModel

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.predictor.answers.operating_points": ["OperatingPoints"],
        "birthmark.predictor.answers.point": ["Point"],
        "birthmark.predictor.fit.thresholds": ["Limit"],
        "birthmark.predictor.fit.time_blocks": ["TimeBlocks"],
        "birthmark.predictor.labels": ["births", "tally"],
        "birthmark.predictor.models.able.estimator": ["AbleTree"],
        "birthmark.predictor.models.able.model": ["TreePath"],
        "birthmark.predictor.models.estimators.encoder": ["CreateEncoder"],
        "birthmark.predictor.models.forest.estimator": ["ForestModel"],
        "birthmark.predictor.models.kinds": ["KINDS", "Kind"],
        "birthmark.predictor.models.model_set": ["Answer"],
        "birthmark.predictor.models.name.estimator": ["NameModel"],
        "birthmark.predictor.models.name.model": ["Rule"],
        "birthmark.predictor.models.rules.estimator": ["RuleModel"],
        "birthmark.predictor.parts": ["DamagedModelError"],
        "birthmark.predictor.predicates": [
            "BUILT_IN",
            "DIRECTORY_PREDICATES",
            "FILE_PREDICATES",
            "HEAT_PREDICATES",
            "NAME_PREDICATES",
            "Predicate",
            "from_config",
            "own_predicate",
        ],
        "birthmark.predictor.trained": ["TrainedModel"],
    },
)
