"""Random loads in the manner of those of Hsu and Smith, which are not public.

TOML files hold their parameters, for the generator in ``native/storage/src/load``.
"""

from birthmark.storage.loads.load import Load
from birthmark.storage.loads.read import LOADS, read_load

__all__ = ["LOADS", "Load", "read_load"]
