"""The forest by scikit-learn's conventions."""

from __future__ import annotations

from birthmark.predictor.models.classifier import BinaryClassifier
from birthmark.predictor.models.forest.model import SEEN, CreateForest


class ForestModel(CreateForest, BinaryClassifier):
    """``CreateForest`` as a classifier.

    In an array, the first column is the name; other columns are not used.
    """

    _columns = SEEN
