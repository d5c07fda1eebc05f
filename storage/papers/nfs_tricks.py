"""Ellard and Seltzer, "NFS Tricks and Benchmarking Traps": its claims."""

from __future__ import annotations

from collections.abc import Callable

from birthmark.storage.papers.claims import Claim, Figures, Paper, between, pick
from birthmark.storage.papers.nfs_measure import DISKS, STRIDES, measure
from birthmark.storage.papers.nfs_pictures import draw
from birthmark.storage.papers.nfs_runs import READERS

FEW, MANY = (1, 2), (16, 32)
"""Readers, where the paper says few and many."""


def _spread(order: str) -> Callable[[Figures], Figures]:
    """Return the last of eight processes over the first."""
    return lambda own: {
        disk: own[f"done {order} {disk} 8"] / own[f"done {order} {disk} 1"] for disk in DISKS
    }


def _last(own: Figures, order: str, disk: str) -> float:
    return own[f"done {order} {disk} 8"]


def _throughput(own: Figures) -> Figures:
    return {disk: _last(own, "elevator", disk) / _last(own, "n_cscan", disk) for disk in DISKS}


def _slowest(own: Figures) -> Figures:
    return {disk: _last(own, "elevator", disk) / own[f"done n_cscan {disk} 1"] for disk in DISKS}


def _tagged(own: Figures) -> Figures:
    rates = {name: [own[f"tags {name} {n}"] for n in READERS[1:]] for name in ("fifo", "aged")}
    return {
        f"{name} {word}": pick(each)
        for name, each in rates.items()
        for word, pick in (("least", min), ("most", max))
    }


def _untagged(own: Figures) -> Figures:
    return {"least": min(own[f"local scsi1 {readers}"] for readers in READERS)}


def _alone(own: Figures) -> Figures:
    return {name: own[f"tags {name} 1"] / own["local scsi1 1"] for name in ("fifo", "aged")}


def _fair(own: Figures) -> Figures:
    """Return spread and slowness of tags beside those of N-CSCAN, below and above 1."""
    spread = _spread("n_cscan")(own)["scsi"]
    found = {}
    for name in ("fifo", "aged"):
        last = _last(own, name, "scsi")
        found[f"{name} spread"] = last / own[f"done {name} scsi 1"] / spread
        found[f"{name} time"] = last / _last(own, "n_cscan", "scsi")
    return found


def _fairer_and_slower(own: Figures) -> bool:
    return all(value < 1 if label.endswith("spread") else value > 1 for label, value in own.items())


def _inner(own: Figures) -> Figures:
    return {disk: own[f"local {disk}4 1"] / own[f"local {disk}1 1"] for disk in DISKS}


def _of_local(own: Figures) -> Figures:
    shares = [own[f"udp {d} {n}"] / own[f"local {d}1 {n}"] for d in DISKS for n in READERS[1:]]
    return {"least": min(shares), "mean": sum(shares) / len(shares), "most": max(shares)}


def _udp(own: Figures) -> Figures:
    """Return UDP's rate over TCP's, and how much TCP's vary up to 16 readers."""

    def over(readers: tuple[int, ...]) -> float:
        ratios = [own[f"udp {d} {n}"] / own[f"tcp {d} {n}"] for d in DISKS for n in readers]
        return sum(ratios) / len(ratios)

    tcp = [own[f"tcp ide {readers}"] for readers in READERS]
    return {"few": over(FEW), "many": over(MANY), "TCP least/most": min(tcp) / max(tcp)}


def _loss(own: Figures, table: str, heuristic: str, over: str, readers: int) -> float:
    """Return by how many percent a heuristic is slower than another."""
    return 100 * (1 - own[f"{table} {heuristic} {readers}"] / own[f"{table} {over} {readers}"])


def _default_loses(own: Figures) -> Figures:
    return {str(n): _loss(own, "small", "default4", "always", n) for n in READERS}


def _loses_beyond_four(own: Figures) -> bool:
    few = all(abs(own[str(readers)]) <= 3 for readers in (1, 2, 4))
    return few and max(own["16"], own["32"]) > 5


def _large(own: Figures) -> Figures:
    told = {"Default": "default4", "SlowDown": "slow_down"}
    return {
        name: max((_loss(own, "large", each, "always", n) for n in READERS), key=abs)
        for name, each in told.items()
    }


def _small(own: Figures) -> Figures:
    losses = (_loss(own, "small", "default4", "slow_down", n) for n in READERS)
    return {"difference": max(losses, key=abs)}


def _busy(own: Figures) -> Figures:
    rates = {name: sum(own[f"{name} default4 {n}"] for n in READERS) for name in ("idle", "busy")}
    gaps = {
        name: sum(_loss(own, name, "default4", "always", n) for n in (8, 16, 32)) / 3
        for name in ("idle", "busy")
    }
    return {"rate": rates["busy"] / rates["idle"], "gap idle": gaps["idle"], "gap busy": gaps["busy"]}


def _overtaken(own: Figures) -> Figures:
    most = {
        name.upper(): max(own[f"overtaken {name} {d} {n}"] for d in DISKS for n in READERS)
        for name in ("udp", "tcp")
    }
    return most | {"one iod": max(own[f"overtaken one {readers}"] for readers in READERS)}


def _gains(disk: str) -> Callable[[Figures], Figures]:
    def over(own: Figures, strides: int) -> float:
        cursor, default = (own[f"stride {name} {disk} {strides}"] for name in ("cursor", "default"))
        return 100 * (cursor / default - 1)

    return lambda own: {str(strides): over(own, strides) for strides in STRIDES}


PRINTED = {"ide": (7.66, 7.83, 5.26), "scsi": (9.49, 8.52, 8.21)}
"""Table 1, Default: MB/s for 2, 4 and 8 strides."""


def _defaults(own: Figures) -> Figures:
    """Return the simulated rates over the printed ones."""
    return {
        f"{disk} {strides}": own[f"stride default {disk} {strides}"] / value
        for disk in DISKS
        for strides, value in zip(STRIDES, PRINTED[disk], strict=True)
    }


def _busy_server(own: Figures) -> Figures:
    return {"loss": 100 * (1 - own["small default4 32"] / own["large default4 32"])}


PAPER = Paper(
    number="000",
    title="Ellard and Seltzer, NFS Tricks and Benchmarking Traps, FREENIX 2003, and Ellard's thesis",
    assumptions=(
        "Both drives are assumed in part: wd200bb and ddys36950 say of what. The outer zone of"
        " wd200bb was fitted to the 5.97 s of eight readers.",
        "What client, network and server take for a call beside the drive was fitted to about 0.5 ms:"
        " to Cursor's rate of scsi1 at 2 strides. So absolute rates over NFS are no claim.",
        "A thread of the client wakes up after 0.06 ms (UDP) or 0.03 ms (TCP) on average, which is a"
        " guess, and decides how many calls overtake others.",
        "vnodes are scattered over the slots of the table of files, which has seen all files before.",
        "Cursors: 8 a file. Figures without printed points are compared with the sentences on them.",
    ),
    claims=(
        Claim("A1", "Fig. 3", "elevator: the last of 8 over the first", "ide1 5.74, scsi1 7.24",
              "5 to 8.5", _spread("elevator"), between(5, 8.5)),
        Claim("A2", "Fig. 3", "ide1, elevator: the first three done, s", "1.04, 1.98, 2.94",
              "20 %", pick(first="done elevator ide 1", second="done elevator ide 2",
                           third="done elevator ide 3"),
              lambda own: all(abs(own[label] / value - 1) <= 0.2 for label, value in
                              (("first", 1.04), ("second", 1.98), ("third", 2.94)))),
        Claim("A3", "Fig. 3", "N-CSCAN: the last of 8 over the first", "below 1.2", "below 1.2",
              _spread("n_cscan"), between(1, 1.2)),
        Claim("A4", "Fig. 3", "N-CSCAN's throughput, of the elevator's", "below 0.5", "0.6 at most",
              _throughput, between(0, 0.6)),
        Claim("A5", "Fig. 3", "the elevator's last over N-CSCAN's first", "about 0.5",
              "0.4 to 0.65", _slowest, between(0.4, 0.65)),
        Claim("A6", "Fig. 2", "scsi1 with tags, 2 readers and more, MB/s", "just above 15",
              "13 to 19", _tagged, between(13, 19),
              reason="what the drive did with its tags is unknown; for some numbers of readers the"
              " assumed orders find the next read of a file in the drive's buffer"),
        Claim("A7", "Fig. 2", "scsi1 without tags: the least, MB/s", "27", "15 %", _untagged,
              between(27 * 0.85, 27 * 1.15),
              reason="the assumed drive passes 37 MB/s in its outermost zone, as its manual has it;"
              " the one measured passed 31 to 8 readers, and why is not known"),
        Claim("A8", "Fig. 2", "one reader: tags over no tags", "almost equal", "5 %", _alone,
              between(0.95, 1.05)),
        Claim("A9", "Fig. 3", "tags over N-CSCAN: spread and time of 8 readers",
              "fairer and slower", "below 1, above 1", _fair, _fairer_and_slower,
              reason="it holds for shortest access first, aged; a drive that takes requests as they"
              " come is fairer, but no slower than N-CSCAN"),
        Claim("A10", "5.1", "innermost over outermost quarter", "2:3, to 1:2", "0.6 to 0.8", _inner,
              between(0.6, 0.8)),
        Claim("A11", "5.4", "NFS over local, more than one reader", "about 0.5", "0.35 to 0.65",
              _of_local, between(0.35, 0.65),
              reason="32 readers over NFS lose more than half where the small table ejects their"
              " files"),
        Claim("A12", "Figs. 4, 5", "UDP over TCP, few readers and many", "better; gone",
              "above 1.02; within 10 %", _udp,
              lambda own: own["few"] > 1.02 and abs(own["many"] - 1) <= 0.1,
              reason="the least of both is the drive's rate from two readers on"),
        Claim("A13", "Fig. 6", "Default below Always by, %", "only beyond 4 readers",
              "3 % up to 4, then above 5 %", _default_loses, _loses_beyond_four),
        Claim("A14", "Fig. 7", "large table: below Always by at most, %", "equal", "5 %", _large,
              between(-5, 5)),
        Claim("A15", "6.3", "small table: Default below SlowDown by at most, %", "equal", "5 %",
              _small, between(-5, 5)),
        Claim("A16", "Fig. 6", "busy client: rate, and Default's gap to Always, %",
              "lower; smaller", "order", _busy,
              lambda own: own["rate"] < 1 and own["gap busy"] < own["gap idle"],
              reason="at 32 readers drive and table decide, however busy the client is"),
        Claim("A17", "6; thesis 3.5.5", "calls overtaken, %", "6, 2, 0 at most",
              "2 to 6, below 2, 0", _overtaken,
              lambda own: 2 <= own["UDP"] <= 6 and own["TCP"] < 2 and own["one iod"] == 0,
              reason="one guessed delay of the client's threads stands for its whole scheduler"),
        Claim("A18", "Table 1", "ide1: Cursor above Default by, %", "50, 81, 141", "40 at least",
              _gains("ide"), between(40, 1000)),
        Claim("A19", "Table 1", "scsi1: Cursor above Default by, %", "62, 81, 72", "40 at least",
              _gains("scsi"), between(40, 1000),
              reason="where two places of the file are a whole number of turns apart, the drive's"
              " buffer and short clusters of 64 KB make Default better or Cursor worse"),
        Claim("A20", "Table 1", "Default over its printed rates", "1", "35 %", _defaults,
              between(0.65, 1.35),
              reason="at 8 strides ide1 was slower than the assumed buffer of 8 segments makes it"),
        Claim("A21", "thesis 5.2", "calls in order within 5 and 10 ms, %", "all", "99 at least",
              lambda own: {"5 ms": own["in order 5"], "10 ms": own["in order 10"]},
              between(99, 100)),
        Claim("A22", "thesis 5.2", "Default's count, 5 and 10 % overtaken", "10 to 20", "7 to 25",
              lambda own: {"5 %": own["count 5"], "10 %": own["count 10"]}, between(7, 25),
              reason="neighbours swapped in every tenth call break three calls each"),
        Claim("A23", "thesis 5.6", "the small table costs 32 readers, %", "20 at most", "10 at least",
              _busy_server, between(10, 100)),
    ),
    measure=measure,
    draw=draw,
)  # fmt: skip
