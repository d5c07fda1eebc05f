"""Captures whose packets are in tunnels, of other link types, or in other containers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

Packet = tuple[int, bytes]  # microseconds since the epoch, and the frame
Wrap = Callable[[bytes], bytes]

OUTER = bytes([192, 0, 2, 1, 192, 0, 2, 2])
MACS = bytes.fromhex("020000000001020000000002")


def packets(pcap: bytes) -> list[Packet]:
    """Return the whole packets of a little-endian pcap file."""
    found, at = [], 24
    while at < len(pcap):
        seconds, micros, captured, length = struct.unpack_from("<IIII", pcap, at)
        assert captured == length
        found.append((seconds * 1_000_000 + micros, pcap[at + 16 : at + 16 + captured]))
        at += 16 + captured
    return found


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(kind: int, payload: bytes) -> bytes:
    return MACS + struct.pack(">H", kind) + payload


def ip4(protocol: int, payload: bytes) -> bytes:
    """An Ethernet frame with an outer packet of IPv4."""
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, 64, protocol, 0) + OUTER
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return ethernet(0x0800, header + payload)


def ip6(protocol: int, payload: bytes) -> bytes:
    addresses = bytes.fromhex("20010db8") + bytes(11) + b"\1" + bytes.fromhex("20010db8")
    addresses += bytes(11) + b"\2"
    header = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
    return ethernet(0x86DD, header + addresses + payload)


def udp(port: int, body: bytes, ip: Callable[[int, bytes], bytes] = ip4) -> bytes:
    return ip(17, struct.pack(">HHHH", 50_000, port, 8 + len(body), 0) + body)


def ah(frame: bytes) -> bytes:
    """The frame's packet of IPv4 with an authentication header (RFC 4302) in it."""
    packet = frame[14:]
    payload = struct.pack(">BBHII", packet[9], 4, 0, 1, 1) + bytes(12) + packet[20:]
    header = packet[:2] + struct.pack(">H", 20 + len(payload)) + packet[4:9] + b"\x33\0\0"
    header += packet[12:20]
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return frame[:14] + header + payload


VXLAN = bytes.fromhex("0800000000002a00")
ERSPAN2 = bytes.fromhex("100088be00000005 1001000100000000")
ERSPAN3 = bytes.fromhex("100022eb00000005 200100010102030400000000")
ERSPAN3_MORE = ERSPAN3[:-1] + b"\1" + bytes.fromhex("0400000000000000")
LABELS = bytes.fromhex("000100400002004000030140")

# each as tshark 4.0 takes it off, too
WRAPS: dict[str, Wrap] = {
    "vxlan": lambda f: udp(4789, VXLAN + f),
    "vxlan-ipv6": lambda f: udp(4789, VXLAN + f, ip6),
    "vxlan-qinq": lambda f: udp(4789, VXLAN + f[:12] + bytes.fromhex("88a8000781000008") + f[12:]),
    "vxlan-gpe-ip": lambda f: udp(4790, bytes.fromhex("0c00000100002a00") + f[14:]),
    "geneve": lambda f: udp(6081, bytes.fromhex("0000655800002a00") + f),
    "geneve-options": lambda f: udp(6081, bytes.fromhex("0200655800002a00 0102800102030405") + f),
    "gre": lambda f: ip4(47, bytes.fromhex("00000800") + f[14:]),
    "gre-key-sequence": lambda f: ip4(47, bytes.fromhex("300008000000002a00000005") + f[14:]),
    "gre-ipv6": lambda f: ip6(47, bytes.fromhex("00000800") + f[14:]),
    "gre-ethernet": lambda f: ip4(47, bytes.fromhex("00006558") + f),
    "nvgre": lambda f: ip4(47, bytes.fromhex("2000655800002a00") + f),
    "gre-mpls": lambda f: ip4(47, bytes.fromhex("00008847") + LABELS + f[14:]),
    "erspan1": lambda f: ip4(47, bytes.fromhex("000088be") + f),
    "erspan2": lambda f: ip4(47, ERSPAN2 + f),
    "erspan3": lambda f: ip4(47, ERSPAN3 + f),
    "erspan3-platform": lambda f: ip4(47, ERSPAN3_MORE + f),
    "ip-in-ip": lambda f: ip4(4, f[14:]),
    "ip-in-ip6": lambda f: ip6(4, f[14:]),
    "ah": ah,
    "mpls": lambda f: ethernet(0x8847, LABELS[8:] + f[14:]),
    "mpls-3": lambda f: ethernet(0x8847, LABELS + f[14:]),
    "pseudowire": lambda f: ethernet(0x8847, LABELS + bytes(4) + f),
    "mpls-udp": lambda f: udp(6635, LABELS + f[14:]),
    "pppoe": lambda f: ethernet(
        0x8864, bytes.fromhex("11000007") + struct.pack(">HH", len(f) - 12, 0x21) + f[14:]
    ),
    "qinq": lambda f: f[:12] + bytes.fromhex("88a8000781000008") + f[12:],
    "l2tp": lambda f: udp(
        1701,
        struct.pack(">HHHHHH", 0x4002, 12 + len(f) - 14, 1, 1, 0xFF03, 0x21) + f[14:],
    ),
    "gtp-u": lambda f: udp(2152, struct.pack(">BBHI", 0x30, 255, len(f) - 14, 9) + f[14:]),
    "mpls-in-vxlan-in-gre": lambda f: ip4(
        47, bytes.fromhex("00006558") + udp(4789, VXLAN + ethernet(0x8847, LABELS + f[14:]))
    ),
}


def translated(frame: bytes) -> bytes:
    """The frame's packet of IPv4 as one of IPv6, with the addresses mapped (RFC 4291)."""
    packet = frame[14:]
    mapped = bytes(10) + b"\xff\xff"
    header = struct.pack(">IHBB", 6 << 28, len(packet) - 20, packet[9], 64)
    return header + mapped + packet[12:16] + mapped + packet[16:20] + packet[20:]


# the same of inner packets of IPv6
WRAPS6: dict[str, Wrap] = {
    "6in4": lambda f: ip4(41, translated(f)),
    "ip6-in-ip6": lambda f: ip6(41, translated(f)),
    "vxlan-of-ipv6": lambda f: udp(4789, VXLAN + ethernet(0x86DD, translated(f))),
    "gre-of-ipv6": lambda f: ip4(47, bytes.fromhex("000086dd") + translated(f)),
    "pppoe-of-ipv6": lambda f: ethernet(
        0x8864, bytes.fromhex("11000007") + struct.pack(">HH", len(f) + 8, 0x57) + translated(f)
    ),
    "ah-in-ip6": lambda f: ethernet(
        0x86DD,
        struct.pack(">IHBB", 6 << 28, len(f) - 34 + 24, 51, 64)
        + translated(f)[8:40]
        + struct.pack(">BBHII", f[23], 4, 0, 1, 1)
        + bytes(12)
        + f[34:],
    ),
}

# link types, and what stands before the packet of IP instead of Ethernet
LINKS: dict[str, tuple[int, Wrap]] = {
    "null": (0, lambda f: bytes.fromhex("02000000") + f[14:]),
    "ppp": (9, lambda f: bytes.fromhex("ff030021") + f[14:]),
    "ppp-hdlc": (50, lambda f: bytes.fromhex("ff030021") + f[14:]),
    "pppoe": (
        51,
        lambda f: bytes.fromhex("11000007") + struct.pack(">HH", len(f) - 12, 0x21) + f[14:],
    ),
    "cisco-hdlc": (104, lambda f: bytes.fromhex("0f000800") + f[14:]),
    "cooked-mpls": (113, lambda f: bytes(14) + bytes.fromhex("8847") + LABELS + f[14:]),
    "cooked-pppoe": (
        113,
        lambda f: (
            bytes(14)
            + bytes.fromhex("886411000007")
            + struct.pack(">HH", len(f) - 12, 0x21)
            + f[14:]
        ),
    ),
    "cooked2-mpls": (276, lambda f: bytes.fromhex("8847") + bytes(18) + LABELS + f[14:]),
    "nflog": (
        239,
        lambda f: (
            bytes.fromhex("02000001 0800010008000300 05000a0061000000")
            + struct.pack("<HH", 4 + len(f) - 14, 9)
            + f[14:]
        ),
    ),
    "pktap": (
        258,
        lambda f: struct.pack("<III", 108, 1, 1) + b"en0".ljust(24, b"\0") + bytes(72) + f,
    ),
}


def pcap(found: list[Packet], link: int = 1) -> bytes:
    parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, link)]
    for time, frame in found:
        head = struct.pack("<IIII", *divmod(time, 1_000_000), len(frame), len(frame))
        parts += [head, frame]
    return b"".join(parts)


def kuznetsov(found: list[Packet]) -> bytes:
    parts = [struct.pack("<IHHIIII", 0xA1B2CD34, 2, 4, 0, 0, 262_144, 1)]
    for time, frame in found:
        head = struct.pack("<IIII", *divmod(time, 1_000_000), len(frame), len(frame))
        parts += [head, struct.pack("<IHBB", 2, 0x0800, 0, 0), frame]
    return b"".join(parts)


def snoop(found: list[Packet]) -> bytes:
    parts = [b"snoop\0\0\0", struct.pack(">II", 2, 4)]
    for time, frame in found:
        padding = bytes(-len(frame) % 4)
        size = 24 + len(frame) + len(padding)
        words = (len(frame), len(frame), size, 0, *divmod(time, 1_000_000))
        parts += [struct.pack(">6I", *words), frame, padding]
    return b"".join(parts)


def erf(found: list[Packet], extensions: int = 0) -> bytes:
    parts = []
    for time, frame in found:
        seconds, micros = divmod(time, 1_000_000)
        heads = b"".join(
            bytes([0x83 if each + 1 < extensions else 3]) + bytes(7) for each in range(extensions)
        )
        body = heads + b"\0\0" + frame
        body += bytes(-len(body) % 8)
        kind = 2 | (0x80 if extensions else 0)
        fraction = (micros << 32) // 1_000_000
        head = struct.pack("<II", fraction, seconds)
        parts += [head, struct.pack(">BBHHH", kind, 4, 16 + len(body), 0, len(frame)), body]
    return b"".join(parts)


CONTAINERS: dict[str, Callable[[list[Packet]], bytes]] = {
    "pcap": pcap,
    "kuznetsov.pcap": kuznetsov,
    "snoop": snoop,
    "erf": erf,
    "extended.erf": lambda found: erf(found, 2),
}


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
