"""Tests of a model on unseen lives: cases, figures and curves, as tables."""
