"""Ma and Reddy: disks behind a server, or attached to the network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from birthmark.research.attached import System
from birthmark.research.papers.attached_draw import draw
from birthmark.research.papers.attached_runs import (
    CACHES,
    DISKS,
    EQUAL,
    MEMORIES,
    MIPS,
    each_disk,
    measure,
    name,
    net,
    server,
)
from birthmark.research.papers.claims import Claim, Figures, Paper, between

MANAGER = ("part manager_wait", "part manager")
DISK = ("part disk_wait", "part disk")
OTHERS = ("part network", "part processor_wait", "part processor", *MANAGER)


def of(figures: Figures, trace: str, system: System, what: str = "response") -> float:
    """Return a figure of a system."""
    return figures[f"{name(trace, system)}: {what}"]


def total(figures: Figures, trace: str, system: System, parts: Sequence[str]) -> float:
    """Return the sum of parts of the time of a request for blocks."""
    return sum(of(figures, trace, system, part) for part in parts)


def faster(figures: Figures, trace: str, system: System, than: System) -> float:
    """Return by how many percent a system answers faster than another."""
    return 100 * (1 - of(figures, trace, system) / of(figures, trace, than))


def small_caches(figures: Figures) -> Figures:
    """C1: how much slower disks of 4 MB are than the server, in percent."""
    return {
        f"{mips} MIPS": -faster(figures, "nfs", net(4, disk_mips=mips), server()) for mips in MIPS
    }


def turn(figures: Figures) -> Figures:
    """C3: the smallest cache with which disks on the network are faster."""
    faster_with = (cache for cache in CACHES if faster(figures, "nfs", net(cache), server()) > 0)
    return {"MB": next(faster_with, 1e9)}


def more_disks(figures: Figures) -> Figures:
    """C4: what 32 disks instead of 8 take off the response, in percent."""
    few, many = DISKS[0], DISKS[-1]
    own = {"server": faster(figures, "nfs", server(disks=many), server(disks=few))}
    for cache in CACHES:
        systems = net(cache, disks=many), net(cache, disks=few)
        own[f"{cache} MB"] = faster(figures, "nfs", *systems)
    return own


def more_disks_help(values: Figures) -> bool:
    """Return whether both gain, and disks on the network more."""
    by_net = [value for label, value in values.items() if label != "server"]
    return 0 < values["server"] < min(by_net)


def gaps(figures: Figures) -> Figures:
    """C5: by how many milliseconds the server is faster with equal memory."""
    return {
        f"{memory} MB": of(figures, "nfs", net(each_disk(memory)))
        - of(figures, "nfs", server(memory))
        for memory in MEMORIES
    }


def gaps_shrink(values: Figures) -> bool:
    """Return whether the gap falls up to 32 MB a disk, and by less than half as much beyond."""
    first, *_ = own = list(values.values())
    at = MEMORIES.index(640)
    falls = all(one > next_ for one, next_ in pairwise(own[: at + 1]))
    return min(own) > 0 and falls and own[at] - own[-1] < (first - own[at]) / 2


def wider(figures: Figures) -> Figures:
    """C6: the gap relative to that with unequal MIPS, if these are equal, too."""
    own = {}
    for total_mips, disk_mips in EQUAL.items():
        for memory in MEMORIES[:4]:
            disks = net(each_disk(memory), disk_mips=disk_mips)
            slow = of(figures, "nfs", disks)
            gap = slow - of(figures, "nfs", server(memory, manager_mips=total_mips))
            before = slow - of(figures, "nfs", server(memory))
            own[f"{total_mips} MIPS, {memory} MB"] = gap / before
    return own


def hits(figures: Figures) -> Figures:
    """C7: by how many points the server's hit ratio is above that of the disks."""
    return {
        f"{memory} MB": 100
        * (
            of(figures, "nfs", server(memory), "hit ratio")
            - of(figures, "nfs", net(each_disk(memory)), "hit ratio")
        )
        for memory in MEMORIES
    }


def disk_share(figures: Figures) -> Figures:
    """C8: the share of the disk in the time for blocks, of disks on the network, in percent."""
    return {
        f"{memory} MB": 100
        * total(figures, "nfs", net(each_disk(memory)), DISK)
        / of(figures, "nfs", net(each_disk(memory)), "data response")
        for memory in MEMORIES
    }


def web_gain(figures: Figures) -> Figures:
    """C9: by how many percent disks on the network are faster."""
    memories = [memory for memory in MEMORIES if memory >= 384]
    return {f"{memory} MB": _web_faster(figures, memory) for memory in memories}


def _web_faster(figures: Figures, memory: int) -> float:
    return faster(figures, "web", net(each_disk(memory)), server(memory))


def web_enough(figures: Figures) -> Figures:
    """C10: the memory beyond which more takes less than 5 % off either response."""

    def enough(memory: int) -> bool:
        pairs = (
            (server(MEMORIES[-1]), server(memory)),
            (net(each_disk(MEMORIES[-1])), net(each_disk(memory))),
        )
        return all(faster(figures, "web", most, own) < 5 for most, own in pairs)

    return {"MB": next(memory for memory in MEMORIES if enough(memory))}


def web_hits(figures: Figures) -> Figures:
    """C11: the hit ratio of small caches, in percent."""
    return {"8 MB": 100 * of(figures, "web", net(8), "hit ratio")}


def web_manager(figures: Figures) -> Figures:
    """C12: the share of the file manager in the time of the server, in percent."""
    return {
        f"{memory} MB": 100
        * total(figures, "web", server(memory), MANAGER)
        / of(figures, "web", server(memory), "data response")
        for memory in MEMORIES
    }


def all_equal(figures: Figures) -> Figures:
    """C13: by how many percent the server is faster with equal memory and equal MIPS."""
    return {
        f"{trace} {memory} MB": faster(
            figures, trace, server(memory, manager_mips=450), net(each_disk(memory))
        )
        for trace in ("nfs", "web")
        for memory in MEMORIES[:4]
    }


def positive(values: Figures) -> bool:
    """Return whether all values are above 0."""
    return all(value > 0 for value in values.values())


def over_half(values: Figures) -> bool:
    """Return whether all values are above 50 %."""
    return all(value > 50 for value in values.values())


CLAIMS = (
    Claim(
        "C1",
        "figure 3",
        "NFS, disk caches of 4 MB: disks on the network are slower at any speed",
        "slower",
        "slower at 10 to 100 MIPS; in %",
        small_caches,
        positive,
    ),
    Claim(
        "C2",
        "figure 3",
        "NFS, 32 MB and 25 MIPS a disk: they are faster by up to",
        "33 %",
        "15 to 45 %",
        lambda figures: {"%": faster(figures, "nfs", net(32), server())},
        between(15, 45),
        fitted=True,
        reason="the number of files of the NFS load was fitted to it",
    ),
    Claim(
        "C3",
        "figures 3, 4",
        "NFS: the disk cache with which they become faster",
        "16 to 32 MB",
        "8 to 64 MB, of 4, 8, 16, 32",
        turn,
        between(8, 64),
    ),
    Claim(
        "C4",
        "figure 4",
        "NFS: more disks help both, and disks on the network more",
        "order",
        "32 disks for 8 take off more than 0 %, and more of any cache's",
        more_disks,
        more_disks_help,
    ),
    Claim(
        "C5",
        "figure 5",
        "NFS, equal memory: the server is faster; by less and less to 32 MB a disk, then no more",
        "order",
        "gap in ms falls to 640 MB, and less than half as much beyond",
        gaps,
        gaps_shrink,
    ),
    Claim(
        "C6",
        "figure 6",
        "NFS, equal memory and MIPS: the gap is wider than in figure 5",
        "order",
        "more than 1 time as wide",
        wider,
        lambda values: all(value > 1 for value in values.values()),
    ),
    Claim(
        "C7",
        "figure 7",
        "NFS: data hit ratios are lower in the disks than in the server",
        "order",
        "lower by more than 0 points",
        hits,
        positive,
        reason="with 128 MB a disk both organizations hold all that this load reads; with less"
        " memory the disks' ratios are lower",
    ),
    Claim(
        "C8",
        "figure 8",
        "NFS: disk time dominates the response of disks on the network",
        "order",
        "more than 50 % of the time for blocks",
        disk_share,
        over_half,
    ),
    Claim(
        "C9",
        "figure 9",
        "Web: disks on the network are faster by",
        "25 %",
        "10 to 40 %, from 384 MB on",
        web_gain,
        between(10, 40),
    ),
    Claim(
        "C10",
        "figure 9",
        "Web: no gain from memory beyond",
        "384 MB",
        "192 to 768 MB; less than 5 % left",
        web_enough,
        between(192, 768),
    ),
    Claim(
        "C11",
        "section 4.2",
        "Web: hit ratios of small disk caches",
        "95 to 98 %",
        "95 to 98 %",
        web_hits,
        between(95, 98),
        fitted=True,
        reason="the number of files of the Web load was fitted to it",
    ),
    Claim(
        "C12",
        "figure 10",
        "Web: service and waiting at the file manager dominate the server's response",
        "order",
        "more than 50 % of it",
        web_manager,
        over_half,
    ),
    Claim(
        "C13",
        "section 5",
        "equal memory and MIPS: the server is faster under both loads",
        "order",
        "faster by more than 0 %",
        all_equal,
        positive,
    ),
)

PAPER = Paper(
    number="004",
    title=(
        "G. Ma and A. L. N. Reddy: storage systems with disks attached to a server or to the"
        " network (Texas A&M University, 1998)"
    ),
    assumptions=(
        "The traces cannot be had: two synthetic loads have their printed totals and shares."
        " NFS: 300,000 files (fitted to C2) read by Zipf's law, all of it reads. Web: 13,000 files"
        " (fitted to C11), and whole seconds, as in a server's log.",
        "No value of figures 3 to 10 is printed: the text's statements are compared.",
        "Metadata never miss; a directory costs a hit and its reply. To forward costs the file"
        " manager 1,500 instructions a chunk. A block under way counts as cached.",
        "Caches begin empty, and requests come at fixed times (no client waits).",
    ),
    claims=CLAIMS,
    measure=measure,
    draw=draw,
)
