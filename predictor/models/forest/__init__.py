"""Forests over all create-time columns."""
