"""The models, a folder for each kind, and what they have in common."""

FOLDERS = (
    "name",
    "able",
    "rules",
    "forest",
)
"""The folders of the kinds, in the order in which they are shown; each is called by its word."""
