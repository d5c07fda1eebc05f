"""The forest by scikit-learn's conventions."""

from __future__ import annotations

from birthmark.predictor.models.classifier import BinaryClassifier
from birthmark.predictor.models.forest.model import SEEN, CreateForest


class ForestModel(CreateForest, BinaryClassifier):
    """``CreateForest`` as a classifier.

    Of an array, the first column is the name, and nothing else is known.
    """

    _columns = SEEN
