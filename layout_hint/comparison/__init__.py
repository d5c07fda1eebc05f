"""All runs of all days, and what they say together about the policies."""
