"""Birthmark predicts what a file will become at the moment it is created."""

from birthmark._native import __version__

__all__ = ["__version__"]
