"""Pictures of the experiments of Ellard and Seltzer, by the numbers of their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from birthmark.data.common import plot_style
from birthmark.research.papers.claims import Figures
from birthmark.research.papers.nfs_runs import READERS

RATE = "MB/s"


def draw(runs: Sequence[Figures], out: Path) -> list[Path]:
    """Draw means over the runs into a folder; return the files."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    means = {name: sum(run[name] for run in runs) / len(runs) for name in runs[0]}
    pictures = {"drive": _drive, "queues": _queues, "network": _network, "heuristics": _heuristics}
    files = []
    with plt.rc_context(plot_style.STYLE):
        for name, picture in pictures.items():
            figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
            picture(axes, means)
            files.append(out / f"000-{name}.svg")
            plot_style.save(figure, files[-1])
            plt.close(figure)
    return files


def _drive(axes: Any, means: Figures) -> None:
    zones = {f"{d}{p}": f"local {d}{p}" for d in ("ide", "scsi") for p in (1, 4)}
    _readers(axes[0], "Figure 1: outer and inner quarter", means, zones)
    tags = {
        "no tags": "local scsi1",
        "tags, first come": "tags fifo",
        "tags, shortest access": "tags aged",
    }
    _readers(axes[1], "Figure 2: scsi1", means, tags)


def _queues(axes: Any, means: Figures) -> None:
    orders = {"elevator": "elevator", "N-CSCAN": "n_cscan"}
    tags = {"tags, first come": "fifo", "tags, shortest access": "aged"}
    for axis, disk, order_names in zip(axes, ("ide", "scsi"), (orders, orders | tags), strict=True):
        lines = {label: f"done {name} {disk}" for label, name in order_names.items()}
        _lines(axis, f"Figure 3: {disk}1, 8 readers", means, lines, range(1, 9))
        axis.set_xlabel("processes done")
        axis.set_ylabel("seconds")


def _network(axes: Any, means: Figures) -> None:
    lines = {
        f"{disk}1, {label}": f"{name} {disk}"
        for disk in ("ide", "scsi")
        for name, label in (("udp", "UDP"), ("tcp", "TCP"))
    }
    _readers(axes[0], "Figures 4 and 5: over NFS", means, lines)
    rates = {
        f"{disk}1, {label}": f"stride {name} {disk}"
        for disk in ("ide", "scsi")
        for name, label in (("default", "Default"), ("cursor", "Cursor"))
    }
    _lines(axes[1], "Figure 8: one reader, several places", means, rates, (2, 4, 8))
    axes[1].set_xlabel("strides")
    axes[1].set_ylabel(RATE)


def _heuristics(axes: Any, means: Figures) -> None:
    clients = {
        f"{label}, {client} client": f"{client} {name}"
        for client in ("idle", "busy")
        for name, label in (("default4", "Default"), ("always", "Always"))
    }
    _readers(axes[0], "Figure 6: small table, ide1 over UDP", means, clients)
    tables = {
        f"{label}, {table} table": f"{table} {name}"
        for table in ("small", "large")
        for name, label in (("default4", "Default"), ("slow_down", "SlowDown"))
    } | {"Always": "large always"}
    _readers(axes[1], "Figure 7: the table, ide1 over UDP", means, tables)


def _readers(axis: Any, title: str, means: Figures, lines: Mapping[str, str]) -> None:
    _lines(axis, title, means, lines, READERS)
    axis.set_xscale("log", base=2)
    axis.set_xticks(READERS, [str(readers) for readers in READERS])
    axis.set_xlabel("readers")
    axis.set_ylabel(RATE)


def _lines(
    axis: Any, title: str, means: Figures, lines: Mapping[str, str], places: Sequence[int]
) -> None:
    styles = zip(plot_style.COLOURS, plot_style.DASHES, strict=True)
    for (label, name), (colour, dash) in zip(lines.items(), styles, strict=False):
        values = [means[f"{name} {place}"] for place in places]
        axis.plot(places, values, color=colour, ls=dash, label=label)
    axis.set_ylim(bottom=0)
    axis.set_title(title, loc="left")
    axis.legend(frameon=False, fontsize=9)
