"""Predictions and hints, asked at every create: answered without the framework's routing."""
