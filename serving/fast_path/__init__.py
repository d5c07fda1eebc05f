"""Predictions and hints, requested at every create and answered without FastAPI's routing."""
