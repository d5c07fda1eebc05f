"""From lives to a model: which lives may be learned from, the fit, and what the fit was of."""
