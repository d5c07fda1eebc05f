"""Kinds of models that users bring: estimators by scikit-learn's conventions."""
