"""Training of models: selection of lives, the fit, and its manifest."""
