"""The name-based model by scikit-learn's conventions."""

from __future__ import annotations

from birthmark.predictor.models.components.estimator import CountingModel
from birthmark.predictor.models.name.model import NameRules


class NameModel(NameRules, CountingModel):
    """``NameRules`` as a classifier."""
