"""Systems that serve files, and the costs of their steps in 1998 and today."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from birthmark.research.settings import CostsName

Organization = Literal["server_disk", "net_disk"]
"""The side that answers clients: the file manager, or the disks."""


@dataclass(frozen=True)
class Priced:
    """Costs of a block of 4 KiB and of a chunk of 64 KiB."""

    block: float
    chunk: float


@dataclass(frozen=True)
class Costs:
    """Costs of steps: processors in instructions, ``_ms`` in milliseconds.

    Attributes:
        attributes: to answer a request for attributes.
        manager_hit, manager_miss: the file manager's for a block.
        forward: the file manager's, to send a message to a disk.
        disk_hit, disk_miss: a disk processor's for a block.
        reply: of the side that answers.
        disk_ms: of the disk.
        bus_ms: of the bus between disks and file manager.
        control_ms: until a message reaches the disk.
    """

    attributes: float
    manager_hit: float
    manager_miss: float
    forward: float
    disk_hit: float
    disk_miss: float
    reply: Priced
    disk_ms: Priced
    bus_ms: Priced
    control_ms: float


PAPER = Costs(
    attributes=750,
    manager_hit=3000,
    manager_miss=7000,
    forward=1500,
    disk_hit=1500,
    disk_miss=3500,
    reply=Priced(10_000, 108_000),
    disk_ms=Priced(15, 22.5),
    bus_ms=Priced(0.1, 1.6),
    control_ms=0.05,
)
"""Table 1 of the paper; forwarding is the half of a hit that a disk does not do."""

TODAY = replace(
    PAPER,
    reply=Priced(10_000, 40_000),
    disk_ms=Priced(0.1, 0.12),
    bus_ms=Priced(0.00033, 0.0053),
    control_ms=0.01,
)
"""Assumed, not measured: flash behind NVMe over Fabrics at 100 Gbit/s, 0.1 ms a read, and a network
card that cuts large replies into packets. The processors do the same work."""

COSTS: dict[CostsName, Costs] = {"paper": PAPER, "today": TODAY}
"""Costs of steps, by name."""


@dataclass(frozen=True)
class System:
    """A system: by default the paper's server, with 16 disks.

    Attributes:
        organization: the side that answers.
        disks: number of disks over which files are striped.
        manager_mips: millions of instructions a second of the file manager.
        manager_cache_mb: MiB of the file manager's cache, which only a server uses.
        disk_mips: of each disk on the network.
        disk_cache_mb: of each disk on the network.
        costs: costs of steps.
    """

    organization: Organization = "server_disk"
    disks: int = 16
    manager_mips: float = 50
    manager_cache_mb: int = 128
    disk_mips: float = 25
    disk_cache_mb: int = 32
    costs: Costs = PAPER
