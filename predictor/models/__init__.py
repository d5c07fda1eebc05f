"""The models, a folder for each kind, and what they have in common."""
