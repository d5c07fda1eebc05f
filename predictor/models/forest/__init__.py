"""Forests over all that is known of a create."""
