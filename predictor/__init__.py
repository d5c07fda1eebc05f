"""Predicates and the models that predict them."""
