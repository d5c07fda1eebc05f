"""Generated traces, for tests that are skipped without the folder `research`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import needs


def write(workload: Mapping[str, Any], path: Path, form: str | None = None) -> None:
    """Write the trace of a workload, given by the arguments of `Workload`."""
    made = needs.research("workloads").Workload(**workload)
    needs.research("workloads.output").write(made, path, form)
