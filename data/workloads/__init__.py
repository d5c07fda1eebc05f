"""Generated workloads, calibrated to the thesis's: CAMPUS, DEAS03 and EECS03.

They are for tests at scale and for showing methods where real traces are not at hand. What they
are calibrated to, and what is not real about them, stands in ``docs/researchers.md``.
"""

from birthmark.data.settings import WORKLOADS
from birthmark.data.workloads.generate import Workload, generate

__all__ = ["WORKLOADS", "Workload", "generate"]
