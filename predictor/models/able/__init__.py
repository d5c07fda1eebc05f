"""The attribute-based decision tree."""
