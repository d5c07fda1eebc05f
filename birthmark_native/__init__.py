"""The compiled part of Birthmark: what is hot or reads hostile bytes."""

from birthmark_native._native import *  # noqa: F403
from birthmark_native._native import __version__ as __version__
