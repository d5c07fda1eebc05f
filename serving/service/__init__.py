"""The state that the service's paths share: the current model, limits, metrics and so on."""
