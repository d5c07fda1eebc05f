"""Shared code of models that count the components of names."""
