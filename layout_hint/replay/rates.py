"""Generated traces at another rate, by the package that generates them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

GROUP = "birthmark.workloads"
"""The group of the entry point `at_rate`: a function like the one below."""


def at_rate(traces: Sequence[Path], rate: float, into: Path) -> list[Path]:
    """Regenerate the workloads of traces at another rate into a directory.

    Raises:
        ValueError: a trace does not record its workload, or no installed package generates traces.
    """
    for entry in entry_points(group=GROUP, name="at_rate"):
        try:
            regenerate = entry.load()
        except ModuleNotFoundError as error:
            if not entry.module.startswith(str(error.name)):
                raise  # it is there, and something that it needs is not
            continue  # as in a checkout without the folder `research`
        regenerated: list[Path] = regenerate(traces, rate, into)
        return regenerated
    raise ValueError(
        f"rate={rate:g}: no installed package generates traces: add the folder research/ to the"
        " checkout, and run `make install`; or compare without rates"
    )
