"""Messages about unreadable traffic of a capture: how much, why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from birthmark.data.common.plurals import counted
from birthmark.data.datasets import ingests

MATTERS = 0.01
"""The share of bytes, or of messages, from which loose ends are reported."""

NFS = 100_003
"""The program number of NFS."""

REASONS = {
    "tls": (
        "is encrypted by TLS (RFC 9289)",
        "Birthmark has no keys; mount with xprtsec=none, and sec=krb5i for signed traffic",
    ),
    "krb5p": ("is encrypted by Kerberos (sec=krb5p)", "mount with sec=krb5i, which can be read"),
    "rpc-rdma": ("is RPC over RDMA", "mount with proto=tcp"),
    "ipsec-esp": (
        "is encrypted by IPsec (ESP)",
        "capture behind the IPsec gateway, or on the server",
    ),
    "other-tunnel": ("is in a tunnel of an unsupported kind", "capture behind the tunnel's end"),
    "nested-too-deep": ("is in tunnels nested too deep", "capture behind the outer tunnels' end"),
    "link-type": ("is of a link type that cannot be read", "capture on an Ethernet interface"),
    "no-time": (
        "is in packets whose capture states no time",
        "capture with a program that writes times, as tcpdump does",
    ),
    "no-message": (
        "is on NFS's port, and no message begins in it (the middle of long ones, or encrypted)",
        "capture whole packets of both directions, from before the mount if it can be",
    ),
    "skipped": (
        "was skipped in search of the start of a message",
        "capture with a larger buffer (tcpdump -B 65536)",
    ),
}
"""The description and the remedy of each reason. The reasons are the decoder's
(native/trace/src/capture/unread.rs), and skipped bytes.
"""

CUT = "were cut by the capture", "capture whole packets (tcpdump -s 0)"
HOLED = "lack packets that were not captured", REASONS["skipped"][1]
"""Why messages are not whole: packets are cut, or missing."""

LOOSE_ENDS = ("no-message", "skipped")
"""Reasons that a good capture has, too, if it begins within a conversation."""


@dataclass(frozen=True)
class Unread:
    """One reason for unreadable or cut traffic, and its remedy."""

    what: str
    do: str
    cut: bool = False


def findings(capture: Mapping[str, Any]) -> list[Unread]:
    """Return the reasons for unreadable traffic, largest first; none if it is negligible.

    `capture` has the counts that only captures have (`birthmark_native.Trace.counts`, ``capture``).
    """
    reasons = _bytes_by_reason(capture)
    _, total = _read(capture, reasons)
    found = [
        Unread(f"{_percent(size, total)} ({size:,} bytes) {_words(reason)[0]}", _words(reason)[1])
        for reason, size in reasons.most_common()
        if reason not in LOOSE_ENDS or size >= MATTERS * total
    ]
    cut, messages = capture.get("cut_messages", 0), capture.get("messages", 0)
    if cut and cut >= MATTERS * messages:
        what = f"{_percent(cut, messages)} of messages ({cut:,} of {messages:,})"
        why, do = CUT if capture.get("cut_packets") else HOLED
        found.append(Unread(f"{what} {why}", do, cut=True))
    return found


def sentence(capture: Mapping[str, Any]) -> str | None:
    """Return the share of readable traffic, the reasons for the rest, and remedies.

    None if nothing important is missing.
    """
    found = findings(capture)
    if not found:
        return None
    reasons = [f"{each.what}: {each.do}" for each in found]
    return "; ".join([_shares(capture, found), *reasons])


def _shares(capture: Mapping[str, Any], found: Sequence[Unread]) -> str:
    """Return the shares of readable bytes, and of whole messages."""
    shares = []
    if any(not each.cut for each in found):
        read, total = _read(capture, _bytes_by_reason(capture))
        share = _percent(read, total)
        shares.append(f"{share} of {total:,} captured bytes of NFS traffic could be read")
    if any(each.cut for each in found):
        messages, cut = capture["messages"], capture["cut_messages"]
        shares.append(f"{_percent(messages - cut, messages)} of {messages:,} messages are whole")
    return ", and ".join(shares)


def warnings(path: str, counts: Mapping[str, Any]) -> list[str]:
    """Return warnings to show before a trace's figures: no NFS, or unreadable traffic.

    `counts` are those of `data.traces.reader.Trace.counts`.
    """
    unread = sentence(counts.get("capture", {}))
    tallies = counts["procedures"].values()
    if any(each["calls"] or each["replies"] for each in tallies):
        return [f"{path}: {unread}"] if unread else []
    if counts["orphans"] and not unread:
        replies = f"holds {sum(counts['orphans'].values()):,} replies and none of their calls"
        return [f"{path}: {replies}: capture both directions of the server's port"]
    if unread:
        return [f"{path}: holds no NFS that could be read: {unread}"]
    return [f"{path}: holds no NFS: {_content(counts)}"]


def of_dataset(directory: Path) -> list[str]:
    """Return the sentence on all captures behind a dataset, with the dataset's name, if any.

    Raises:
        FileNotFoundError: the directory is no dataset.
        ValueError: a record is damaged.
    """
    records = ingests.records(directory).values()
    traces = (trace for record in records for trace in record.get("traces", ()))
    unread = sentence(total(trace.get("details", {}).get("capture", {}) for trace in traces))
    return [f"{directory}: {unread}"] if unread else []


def total(captures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the summed counts of several captures, as far as `sentence` needs them."""
    names = ("rpc_bytes", "skipped_bytes", "messages", "cut_messages", "cut_packets")
    sums, unread = Counter[str](), Counter[str]()
    for capture in captures:
        sums.update({name: capture.get(name, 0) for name in names})
        unread.update({name: of.get("bytes", 0) for name, of in capture.get("unread", {}).items()})
    return {**sums, "unread": {name: {"bytes": size} for name, size in unread.items()}}


def _bytes_by_reason(capture: Mapping[str, Any]) -> Counter[str]:
    found = {name: of["bytes"] for name, of in capture.get("unread", {}).items()}
    found["skipped"] = capture.get("skipped_bytes", 0)
    return Counter({name: size for name, size in found.items() if size > 0})


def _read(capture: Mapping[str, Any], reasons: Mapping[str, int]) -> tuple[int, int]:
    """Return the readable bytes, and all. RPC's own include those by krb5p."""
    rpc = capture.get("rpc_bytes", 0)
    within = sum(reasons.get(name, 0) for name in ("krb5p", "skipped"))
    return max(rpc - within, 0), max(rpc, within) + sum(reasons.values()) - within


def _words(reason: str) -> tuple[str, str]:
    return REASONS.get(reason, (f"could not be read ({reason})", "capture where it is plain NFS"))


def _percent(part: int, whole: int) -> str:
    """Return a percentage; a part never shows as 0% or 100%."""
    if not whole or not 0 < part < whole:
        return "100%" if whole and part >= whole else "0%"
    return f"{min(max(100 * part / whole, 0.1), 99.9):.1f}%"


def _content(counts: Mapping[str, Any]) -> str:
    """Describe the contents of a trace without NFS."""
    others = [program for program in counts["other_programs"] if program != NFS]
    if NFS in counts["other_programs"]:
        return _refused(counts)
    if others:
        programs = ", ".join(map(str, others))
        return f"all RPC in it is of other programs ({programs}), and NFS is program {NFS}"
    if "capture" in counts and not counts["records"]:
        packets = f"{counts['capture']['packets']:,} packets, none of RPC"
        return f"{packets}; expected those of NFS's port, which is 2049 as a rule"
    return f"{counts['records']:,} records, {sum(counts['damaged'].values()):,} of them damaged"


def _refused(counts: Mapping[str, Any]) -> str:
    """Describe NFS calls of a version, or a procedure, that NFS does not have."""
    calls, _ = counts["other_programs"][NFS]
    found = f"{counted(calls, 'calls')} of a version or procedure that NFS does not have"
    if offered := counts.get("capture", {}).get("offered_versions"):
        found += f"; the server refused the version, and offers {offered[0]} to {offered[1]}"
    return f"{found}: capture the traffic of a mount"
