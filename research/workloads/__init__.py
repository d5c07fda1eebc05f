"""Generated workloads, calibrated to the thesis's: CAMPUS, DEAS03 and EECS03.

They are for tests at scale and for showing methods without real traces. ``docs/researchers.md``
describes the calibration and the differences from real traces.
"""

from birthmark.data.settings import WORKLOADS
from birthmark.research.workloads.generate import Workload, generate

__all__ = ["WORKLOADS", "Workload", "generate"]
