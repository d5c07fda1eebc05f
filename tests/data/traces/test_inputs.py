"""Traces are read once each, in the order of their time; a missing NFS is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.data.anonymize import anonymize
from birthmark.data.ingest.run import ingest
from birthmark.data.scan.count import Plan, scan
from birthmark.data.traces.inputs import reject_duplicates
from tests.data.ingest.test_run import create

DAY = 86_400
NOON = 1_000_000_000
PCAP = bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000")
"""The header of a capture of Ethernet: the whole file if it has no packets."""


def packet(payload: bytes) -> bytes:
    """A packet of DNS."""
    udp = bytes.fromhex("d4310035") + (8 + len(payload)).to_bytes(2, "big") + b"\0\0" + payload
    ip = bytes.fromhex("4500") + (20 + len(udp)).to_bytes(2, "big")
    ip += bytes.fromhex("00000000 40110000 0a000001 0a000002") + udp
    frame = bytes(12) + b"\x08\x00" + ip
    lengths = len(frame).to_bytes(4, "little") * 2
    return NOON.to_bytes(4, "little") + bytes(4) + lengths + frame


@pytest.fixture
def days(tmp_path: Path) -> list[str]:
    """Return the traces of two days of one server."""
    paths = [tmp_path / f"day{number}.txt" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_text(create(NOON + number * DAY, 1))
    return [str(path) for path in paths]


@pytest.fixture
def dns(tmp_path: Path) -> str:
    path = tmp_path / "dns.pcap"
    path.write_bytes(PCAP + packet(b"not RPC") * 3)
    return str(path)


def test_a_trace_that_is_named_twice_is_refused(days: list[str], tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(days[0])
    for again in (days[0], str(link)):
        with pytest.raises(ValueError, match=f"{again}: is the same as {days[0]}, which is named"):
            ingest([*days, again], tmp_path / "out")
        with pytest.raises(ValueError, match="name it once"):
            scan([days[0], again], tmp_path / "out.csv")
        with pytest.raises(ValueError, match="name it once"):
            anonymize([days[0], again], str(tmp_path / "out.txt"), tmp_path / "mapping")
    assert not (tmp_path / "out").exists()


def test_a_trace_that_the_dataset_holds_already_is_reported(
    days: list[str], tmp_path: Path
) -> None:
    assert ingest(days[:1], tmp_path / "out").warnings == []
    (warning,) = ingest(days, tmp_path / "out").warnings
    assert warning.startswith(
        f"{days[0]}: was ingested before, according to {tmp_path}/out/ingests/0001.json"
    )


def test_standard_input_is_read_once() -> None:
    with pytest.raises(ValueError, match="-: is the same as -"):
        reject_duplicates(["-", "-"])


def test_traces_out_of_the_order_of_their_time_are_refused_with_their_beginnings(
    days: list[str], tmp_path: Path
) -> None:
    message = (
        f"{days[0]}: of server 30 it begins at 2001-09-09 01:46:40, and {days[1]}, which is named"
        " before it, at 2001-09-10 01:46:40: name traces in the order of their time"
    )
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        ingest([days[1], days[0]], tmp_path / "out")
    assert str(caught.value) == message


def test_traces_of_several_servers_may_come_in_any_order(days: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(create(NOON - DAY, 1, server="40.0801"))
    assert ingest([*days, other], tmp_path / "out").rows["operations"] == 3


def test_a_capture_without_nfs_is_reported(dns: str, days: list[str], tmp_path: Path) -> None:
    why = f"{dns}: holds no NFS: 3 packets, none of RPC; expected those of NFS's port"
    (warning,) = ingest([days[0], dns], tmp_path / "day").warnings
    assert warning.startswith(why)
    (warning,) = scan([dns, days[0]], tmp_path / "counts.csv").warnings
    assert warning.startswith(why)
    (warning,) = anonymize([dns], str(tmp_path / "out"), tmp_path / "mapping").warnings
    assert warning.startswith(why)


def test_a_text_of_damage_alone_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "damaged.txt"
    path.write_text(create(NOON, 1).replace("0801", "zzzz"))
    (warning,) = ingest([path], tmp_path / "day").warnings
    assert warning == f"{path}: holds no NFS: 2 records, 2 of them damaged"


def test_a_scan_warns_if_no_operation_matches(days: list[str], tmp_path: Path) -> None:
    plan = Plan(clients=["10.0.0.1"])
    assert scan(days, tmp_path / "counts.csv", plan).warnings == [
        "none of 2 operations is of the clients, users and groups asked for"
    ]
