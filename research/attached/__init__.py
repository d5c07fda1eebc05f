"""Disks behind a server or on the network: systems, costs of steps, and loads.

``research/simulator/src/attached`` serves them.
"""

from birthmark.research.attached.loads import NFS, WEB, Load, Nfs, Web
from birthmark.research.attached.serve import compare, serve
from birthmark.research.attached.systems import COSTS, Costs, Organization, System

__all__ = [
    "COSTS",
    "NFS",
    "WEB",
    "Costs",
    "Load",
    "Nfs",
    "Organization",
    "System",
    "Web",
    "compare",
    "serve",
]
