"""The pictures of Ma and Reddy's figures 3 to 10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from birthmark.data.common import plot_style
from birthmark.research.attached import System
from birthmark.research.papers.attached_runs import (
    CACHES,
    DISKS,
    EQUAL,
    MEMORIES,
    MIPS,
    each_disk,
    name,
    net,
    server,
)
from birthmark.research.papers.claims import Figures

PARTS = {
    "file manager, waiting": "manager_wait",
    "file manager": "manager",
    "network and bus": "network",
    "disk's processor, waiting": "processor_wait",
    "disk's processor": "processor",
    "disk, waiting": "disk_wait",
    "disk": "disk",
}
MEMORY = "memory altogether, MB"

Of = Callable[[str, System, str], float]
"""Returns the mean of a system's figure over the runs."""


def draw(runs: Sequence[Figures], out: Path) -> list[Path]:
    """Draw responses (figures 3 to 6 and 9) and their parts (7, 8 and 10)."""

    def of(trace: str, system: System, what: str = "response") -> float:
        key = f"{name(trace, system)}: {what}"
        return sum(run[key] for run in runs) / len(runs)

    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    drawn = []
    with plt.rc_context(plot_style.STYLE):
        for stem, panels, size in (
            ("responses", (_figure3, _figure4, _figure5, _figure6, _figure9), (14, 8)),
            ("parts", (_figure7, _figure8, _figure10), (14, 5)),
        ):
            rows = -(-len(panels) // 3)
            figure, axes = plt.subplots(rows, 3, figsize=size, layout="constrained")
            for axis, panel in zip(axes.flat, panels, strict=False):
                panel(axis, of)
            for axis in axes.flat[len(panels) :]:
                axis.axis("off")
            path = out / f"004-{stem}.svg"
            plot_style.save(figure, path)
            plt.close(figure)
            drawn.append(path)
    return drawn


def _lines(axis: Any, over: Sequence[float], lines: dict[str, list[float]]) -> None:
    """Draw lines over equally spaced values."""
    for number, (label, values) in enumerate(lines.items()):
        colour, dashes = plot_style.COLOURS[number], plot_style.DASHES[number]
        axis.plot(
            range(len(values)), values, color=colour, ls=dashes, marker="o", ms=4, label=label
        )
    axis.set_xticks(range(len(over)), [f"{value:g}" for value in over])
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False, fontsize=9)


def _titled(axis: Any, title: str, over: str, values: str = "response, ms") -> None:
    axis.set_title(title, loc="left", fontsize=12)
    axis.set_xlabel(over)
    axis.set_ylabel(values)


def _figure3(axis: Any, of: Of) -> None:
    lines = {"server": [of("nfs", server(), "response")] * len(MIPS)}
    for cache in CACHES:
        own = [of("nfs", net(cache, disk_mips=mips), "response") for mips in MIPS]
        lines[f"network, {cache} MB a disk"] = own
    _lines(axis, MIPS, lines)
    _titled(axis, "3: NFS, speed of the disks", "MIPS of each disk")


def _figure4(axis: Any, of: Of) -> None:
    lines = {"server": [of("nfs", server(disks=disks), "response") for disks in DISKS]}
    for cache in CACHES:
        own = [of("nfs", net(cache, disks=disks), "response") for disks in DISKS]
        lines[f"network, {cache} MB a disk"] = own
    _lines(axis, DISKS, lines)
    _titled(axis, "4: NFS, number of disks", "disks")


def _memories(of: Of, trace: str, what: str, scale: float = 1) -> dict[str, list[float]]:
    return {
        "server": [scale * of(trace, server(memory), what) for memory in MEMORIES],
        "network": [scale * of(trace, net(each_disk(memory)), what) for memory in MEMORIES],
    }


def _figure5(axis: Any, of: Of) -> None:
    _lines(axis, MEMORIES, _memories(of, "nfs", "response"))
    _titled(axis, "5: NFS, equal memory", MEMORY)


def _figure6(axis: Any, of: Of) -> None:
    memories = MEMORIES[:4]
    lines = {}
    for total, mips in EQUAL.items():
        own = [of("nfs", server(memory, manager_mips=total), "response") for memory in memories]
        lines[f"server, {total} MIPS"] = own
        disks = [net(each_disk(memory), disk_mips=mips) for memory in memories]
        lines[f"network, {total} MIPS"] = [of("nfs", disk, "response") for disk in disks]
    _lines(axis, memories, lines)
    _titled(axis, "6: NFS, equal memory and MIPS", MEMORY)


def _figure7(axis: Any, of: Of) -> None:
    _lines(axis, MEMORIES, _memories(of, "nfs", "hit ratio", 100))
    _titled(axis, "7: NFS, hit ratios of data", MEMORY, "hits, %")


def _figure9(axis: Any, of: Of) -> None:
    _lines(axis, MEMORIES, _memories(of, "web", "response"))
    _titled(axis, "9: Web, equal memory", MEMORY)


def _bars(axis: Any, of: Of, trace: str) -> None:
    """Draw the parts of responses to requests for blocks, both systems side by side."""
    below = [0.0] * (2 * len(MEMORIES))
    places = [place for number in range(len(MEMORIES)) for place in (number - 0.2, number + 0.2)]
    for number, (label, part) in enumerate(PARTS.items()):
        own = [
            of(trace, system, f"part {part}")
            for memory in MEMORIES
            for system in (server(memory), net(each_disk(memory)))
        ]
        colour = plot_style.COLOURS[number % len(plot_style.COLOURS)]
        axis.bar(places, own, 0.34, bottom=below, color=colour, label=label)
        below = [low + value for low, value in zip(below, own, strict=True)]
    axis.set_xticks(range(len(MEMORIES)), [str(memory) for memory in MEMORIES])
    axis.set_ylim(top=1.4 * max(below))
    axis.set_axisbelow(True)
    axis.grid(visible=False, axis="x")
    axis.legend(frameon=False, fontsize=9)


def _figure8(axis: Any, of: Of) -> None:
    _bars(axis, of, "nfs")
    _titled(axis, "8: NFS, data (left: server)", MEMORY)


def _figure10(axis: Any, of: Of) -> None:
    _bars(axis, of, "web")
    _titled(axis, "10: Web (left: server)", MEMORY)
