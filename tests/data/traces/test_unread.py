"""Unreadable traffic is reported first: how much, why, and what to do.

The public captures and their expected contents are in `captures/public` of the reference captures,
each with a page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from birthmark.data.ingest.run import ingest
from birthmark.data.scan.count import scan
from birthmark.data.top.whole import read
from birthmark.data.traces import unread


@pytest.fixture
def public(shared: Path) -> Path:
    folder = shared / "captures" / "public"
    if not folder.is_dir():
        pytest.skip("the public captures are not there")
    return folder


def capture(**counts: Any) -> dict[str, Any]:
    """The counts of a capture that was read completely, except for `counts`."""
    whole = {"packets": 40, "messages": 20, "cut_messages": 0, "skipped_bytes": 0}
    return {**whole, "rpc_bytes": 10_000, "unread": {}, **counts}


def of(**reasons: int) -> dict[str, Any]:
    return {name.replace("_", "-"): {"count": 3, "bytes": size} for name, size in reasons.items()}


def test_a_readable_capture_has_no_warning() -> None:
    assert unread.sentence(capture()) is None
    # it begins amid a message, as every capture of a busy server does
    assert unread.sentence(capture(skipped_bytes=99, unread=of(no_message=90))) is None
    assert unread.sentence(capture(messages=1000, cut_messages=9)) is None
    assert unread.sentence({}) is None


@pytest.mark.parametrize("reason", sorted(set(unread.REASONS) - {"skipped", "krb5p"}))
def test_each_reason_has_its_share_its_words_and_a_remedy(reason: str) -> None:
    what, do = unread.REASONS[reason]
    sentence = unread.sentence(capture(unread={reason: {"count": 3, "bytes": 30_000}}))
    assert sentence == (
        "25.0% of 40,000 captured bytes of NFS traffic could be read; "
        f"75.0% (30,000 bytes) {what}: {do}"
    )


def test_every_reason_of_the_decoder_has_words() -> None:
    source = Path(__file__).parents[3] / "native/trace/src/capture/unread.rs"
    lines = source.read_text().split("reasons! {")[1].split("}")[0].splitlines()
    reasons = [line.split('"')[1] for line in lines if " = " in line and '"' in line]
    assert len(reasons) >= 8
    assert set(reasons) <= set(unread.REASONS)


def test_traffic_encrypted_by_kerberos_is_part_of_the_rpc_seen() -> None:
    sentence = unread.sentence(capture(unread=of(krb5p=9_990)))
    assert sentence is not None
    assert sentence.startswith(
        "0.1% of 10,000 captured bytes of NFS traffic could be read; 99.9% (9,990 bytes)"
    )


def test_no_share_is_called_all_or_none_that_is_not() -> None:
    sentence = unread.sentence(capture(rpc_bytes=10**9, unread=of(tls=1)))
    assert sentence is not None
    assert sentence.startswith("99.9% of 1,000,000,001 captured bytes")
    sentence = unread.sentence(capture(rpc_bytes=0, unread=of(tls=500)))
    assert sentence is not None
    assert sentence.startswith(
        "0% of 500 captured bytes of NFS traffic could be read; 100% (500 bytes)"
    )


def test_cut_messages_are_reported_with_a_remedy() -> None:
    cut = (
        "99.9% of messages (19,353 of 19,363) were cut by the capture:"
        " capture whole packets (tcpdump -s 0)"
    )
    counts = {"messages": 19_363, "cut_messages": 19_353, "cut_packets": 30_000}
    assert unread.sentence(capture(**counts)) == f"0.1% of 19,363 messages are whole; {cut}"
    sentence = unread.sentence(capture(**counts, unread=of(tls=10_000)))
    assert sentence is not None
    assert sentence.startswith(
        "50.0% of 20,000 captured bytes of NFS traffic could be read, and 0.1% of 19,363 messages"
    )
    assert sentence.endswith(cut)


def test_messages_that_lack_packets_are_not_reported_as_cut() -> None:
    sentence = unread.sentence(capture(messages=1000, cut_messages=50))
    assert sentence == (
        "95.0% of 1,000 messages are whole; 5.0% of messages (50 of 1,000) lack packets that were"
        " not captured: capture with a larger buffer (tcpdump -B 65536)"
    )


def test_counts_of_an_hour_that_took_some_back_are_no_bytes() -> None:
    assert unread.sentence(capture(unread={"no-message": {"count": -3, "bytes": -900}})) is None


def warned(path: Path, tmp_path: Path) -> tuple[list[str], Any]:
    summary = ingest([path], tmp_path / path.name)
    return summary.warnings, summary


def test_an_echo_of_bfd_is_no_reply(public: Path, tmp_path: Path) -> None:
    warnings, summary = warned(public / "bfd-echo.pcap", tmp_path)
    assert (summary.records_in, summary.replies_without_call) == (0, {})
    assert ": holds no NFS: " in warnings[0]


def test_creates_and_replies_of_a_conversation_met_in_its_middle_are_births(
    public: Path, tmp_path: Path
) -> None:
    warnings, summary = warned(public / "midstream-krb5-creates.pcap", tmp_path)
    create = summary.procedures["create"]
    assert (create["calls"], create["replies"], create["ok"]) == (3, 3, 3)
    assert (summary.rows["files"], warnings) == (4, [])  # and their directory


def test_the_middle_of_a_write_is_reported_as_without_a_beginning(
    public: Path, tmp_path: Path
) -> None:
    warnings, summary = warned(public / "middle-of-a-write.pcap", tmp_path)
    assert summary.records_in == 0
    assert "expected those of NFS's port" not in warnings[0]
    assert "is on NFS's port, and no message begins in it" in warnings[0]
    assert summary.traces[0].details["capture"]["unread"]["no-message"]["count"] == 5  # and 5 ACKs


def test_modbus_is_no_damage(public: Path, tmp_path: Path) -> None:
    _, summary = warned(public / "modbus-reads.pcap", tmp_path)
    assert (summary.records_in, summary.records_set_aside) == (0, {})


def test_a_refused_version_of_nfs_is_reported_with_the_offered_ones(
    public: Path, tmp_path: Path
) -> None:
    (warning,), _ = warned(public / "rpcinfo-version-0.pcap", tmp_path)
    assert "the server refused the version, and offers 2 to 4" in warning
    assert "other programs" not in warning


def test_encryption_by_tls_is_reported_for_a_trace_and_its_dataset(
    public: Path, tmp_path: Path
) -> None:
    path = public / "tls-after-starttls.pcap"
    (warning,), summary = warned(path, tmp_path)
    size = summary.traces[0].details["capture"]["unread"]["tls"]["bytes"]
    assert (summary.records_in, size > 1000) == (2, True)
    assert f"({size:,} bytes) is encrypted by TLS (RFC 9289): " in warning
    assert scan([path], tmp_path / "counts.csv").warnings == [warning]
    _, found = read([str(path)])
    assert (found.warnings, f"{path}: {found.lost.unread}") == ([warning], warning)
    dataset = tmp_path / path.name
    assert unread.of_dataset(dataset) == [warning.replace(str(path), str(dataset))]
    assert scan([dataset], tmp_path / "counts.csv").warnings == unread.of_dataset(dataset)
