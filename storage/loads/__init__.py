"""Loads made up by chance in the manner of those of Hsu and Smith, which are not public.

Their parameters are in TOML files, for the generator in ``native/storage/src/load``.
"""

from birthmark.storage.loads.load import Load
from birthmark.storage.loads.read import LOADS, read_load

__all__ = ["LOADS", "Load", "read_load"]
