"""Values that the claims of Ellard and Seltzer compare, from the figures of a run."""

from __future__ import annotations

from collections.abc import Callable

from birthmark.research.papers.claims import Figures
from birthmark.research.papers.nfs_measure import DISKS, STRIDES
from birthmark.research.papers.nfs_runs import READERS

FEW, MANY = (1, 2), (16, 32)
"""Numbers of readers for the paper's "few" and "many"."""


def spread(order: str) -> Callable[[Figures], Figures]:
    """Return the finishing time of the last of eight processes over that of the first."""
    return lambda own: {
        disk: own[f"done {order} {disk} 8"] / own[f"done {order} {disk} 1"] for disk in DISKS
    }


def last(own: Figures, order: str, disk: str) -> float:
    """Return when the last of eight processes was done, in seconds."""
    return own[f"done {order} {disk} 8"]


def throughput(own: Figures) -> Figures:
    """Return N-CSCAN's throughput as a share of the elevator's."""
    return {disk: last(own, "elevator", disk) / last(own, "n_cscan", disk) for disk in DISKS}


def slowest(own: Figures) -> Figures:
    """Return the elevator's last process over N-CSCAN's first."""
    return {disk: last(own, "elevator", disk) / own[f"done n_cscan {disk} 1"] for disk in DISKS}


def tagged(own: Figures) -> Figures:
    """Return the rates of scsi1 with tags, from two readers on."""
    return {str(readers): own[f"tags aged {readers}"] for readers in READERS[1:]}


def untagged(own: Figures) -> Figures:
    """Return the lowest rate of scsi1 without tags."""
    return {"least": min(own[f"local scsi1 {readers}"] for readers in READERS)}


def alone(own: Figures) -> Figures:
    """Return the rate of one reader with tags over that without."""
    return {name: own[f"tags {name} 1"] / own["local scsi1 1"] for name in ("fifo", "aged")}


def fair(own: Figures) -> Figures:
    """Return spread and time of tags relative to N-CSCAN, below and above 1."""
    end, sweeps = last(own, "aged", "scsi"), spread("n_cscan")(own)["scsi"]
    return {
        "spread": end / own["done aged scsi 1"] / sweeps,
        "time": end / last(own, "n_cscan", "scsi"),
    }


def fairer_and_slower(own: Figures) -> bool:
    """Return whether the spread is below that of N-CSCAN, and the time above."""
    return own["spread"] < 1 < own["time"]


def inner(own: Figures) -> Figures:
    """Return the rate of the innermost quarter over that of the outermost."""
    return {disk: own[f"local {disk}4 1"] / own[f"local {disk}1 1"] for disk in DISKS}


def of_local(own: Figures) -> Figures:
    """Return the rates over NFS, as shares of local ones, from two readers on."""
    return {
        f"{disk} {readers}": own[f"udp {disk} {readers}"] / own[f"local {disk}1 {readers}"]
        for disk in DISKS
        for readers in READERS[1:]
    }


def udp(own: Figures) -> Figures:
    """Return UDP's rate over TCP's, and for each the least over the most; means over drives."""

    def over(readers: tuple[int, ...]) -> float:
        ratios = [own[f"udp {d} {n}"] / own[f"tcp {d} {n}"] for d in DISKS for n in readers]
        return sum(ratios) / len(ratios)

    def flat(transport: str) -> float:
        rates = [[own[f"{transport} {d} {n}"] for n in READERS] for d in DISKS]
        return sum(min(each) / max(each) for each in rates) / len(rates)

    return {"few": over(FEW), "many": over(MANY), "TCP flat": flat("tcp"), "UDP flat": flat("udp")}


def udp_for_few(own: Figures) -> bool:
    """Return whether UDP is better for few readers only, and TCP the flatter.

    The margins exceed the standard deviations over seeds: 0.003, 0.02 and 0.01.
    """
    gone = own["few"] - own["many"]
    return own["few"] > 1.01 and gone > 0.02 and own["TCP flat"] - own["UDP flat"] > 0.01


def loss(own: Figures, table: str, heuristic: str, over: str, readers: int) -> float:
    """Return by how many percent a heuristic is slower than another."""
    return 100 * (1 - own[f"{table} {heuristic} {readers}"] / own[f"{table} {over} {readers}"])


def default_loses(own: Figures) -> Figures:
    """Return by how many percent Default is slower than Always."""
    return {str(n): loss(own, "small", "default4", "always", n) for n in READERS}


def loses_beyond_four(own: Figures) -> bool:
    """Return whether Default is as fast as Always up to 4 readers, and not beyond."""
    few = all(abs(own[str(readers)]) <= 3 for readers in (1, 2, 4))
    return few and max(own["16"], own["32"]) > 5


def large(own: Figures) -> Figures:
    """Return the greatest loss of others against Always with the large table."""
    names = {"Default": "default4", "SlowDown": "slow_down"}
    return {
        name: max((loss(own, "large", each, "always", n) for n in READERS), key=abs)
        for name, each in names.items()
    }


def small(own: Figures) -> Figures:
    """Return the greatest loss of Default against SlowDown with the small table."""
    losses = (loss(own, "small", "default4", "slow_down", n) for n in READERS)
    return {"difference": max(losses, key=abs)}


def busy(own: Figures) -> Figures:
    """Return a busy client's rate over an idle one's, and Default's loss with both."""
    rates = {name: sum(own[f"{name} default4 {n}"] for n in READERS) for name in ("idle", "busy")}
    gaps = {
        name: sum(loss(own, name, "default4", "always", n) for n in (8, 16, 32)) / 3
        for name in ("idle", "busy")
    }
    return {
        "rate": rates["busy"] / rates["idle"],
        "gap idle": gaps["idle"],
        "gap busy": gaps["busy"],
    }


def overtaken(own: Figures) -> Figures:
    """Return the greatest percentage of calls that were overtaken."""
    most = {
        name.upper(): max(own[f"overtaken {name} {d} {n}"] for d in DISKS for n in READERS)
        for name in ("udp", "tcp")
    }
    return most | {"one iod": max(own[f"overtaken one {readers}"] for readers in READERS)}


def gains(disk: str) -> Callable[[Figures], Figures]:
    """Return by how many percent Cursor is faster than Default."""

    def over(own: Figures, strides: int) -> float:
        cursor, default = (own[f"stride {name} {disk} {strides}"] for name in ("cursor", "default"))
        return 100 * (cursor / default - 1)

    return lambda own: {str(strides): over(own, strides) for strides in STRIDES}


PRINTED = {"ide": (7.66, 7.83, 5.26), "scsi": (9.49, 8.52, 8.21)}
"""Table 1, Default: MB/s for 2, 4 and 8 strides."""


def defaults(own: Figures) -> Figures:
    """Return the simulated rates over the printed ones."""
    return {
        f"{disk} {strides}": own[f"stride default {disk} {strides}"] / value
        for disk in DISKS
        for strides, value in zip(STRIDES, PRINTED[disk], strict=True)
    }


def busy_server(own: Figures) -> Figures:
    """Return by how many percent the small table slows 32 readers down."""
    return {"loss": 100 * (1 - own["small default4 32"] / own["large default4 32"])}
