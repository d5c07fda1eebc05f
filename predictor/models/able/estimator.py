"""The decision tree by scikit-learn's conventions."""

from __future__ import annotations

from birthmark.predictor.models.able.model import AttributeTree
from birthmark.predictor.models.classifier import BinaryClassifier


class AbleTree(AttributeTree, BinaryClassifier):
    """``AttributeTree`` as a classifier."""
