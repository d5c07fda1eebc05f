"""Random loads in the manner of those of Hsu and Smith, which are not public.

TOML files hold their parameters, for the generator in ``research/simulator/src/load``.
"""

from birthmark.research.loads.load import Load
from birthmark.research.loads.read import LOADS, read_load

__all__ = ["LOADS", "Load", "read_load"]
