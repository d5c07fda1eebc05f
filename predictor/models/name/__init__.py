"""The name-based model."""
