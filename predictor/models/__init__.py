"""The models, with a folder per kind, and their shared code."""

FOLDERS = (
    "name",
    "able",
    "rules",
    "forest",
)
"""The folders of the kinds, in display order; each folder has the kind's name."""
