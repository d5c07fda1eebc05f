from __future__ import annotations

from birthmark.predictor.models.toy.model import Share

from birthmark.predictor.models.classifier import BinaryClassifier


class ToyModel(Share, BinaryClassifier):
    """``Share`` as a classifier."""
