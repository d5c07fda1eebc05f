"""All runs of all days, and the comparison of the policies."""
