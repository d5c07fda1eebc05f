"""Text in, text out: everything but names, ids and addresses stays (thesis section 3.6.1)."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from birthmark.data.anonymize import Settings, anonymize
from birthmark.data.ingest.run import ingest
from tests.data.anonymize.secret import DAMAGED, TEXT, leaks

MAPPED = re.compile(
    r"(?<= name )\S+|(?<= name2 )\S+|(?<= sdata )\S+|(?<= name-\d )\S+"
    r"|(?<= fh )\S+|(?<= fh2 )\S+|(?<= fh-\d )\S+"
    r"|(?<= [ug]id )\S+|(?<= e[ug]id )\S+|(?<= [ug]id-\d )\S+|\S+(?=\.03f7|\.0801)"
)


def run(*arguments: object, stdin: bytes = b"", **options: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "birthmark", "anonymize", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, **options)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def names(path: Path) -> list[str]:
    """The names of the calls, in the order of the text."""
    return re.findall(r'(?: name2?| sdata| name-\d) "(\S*)"', path.read_text())


def test_no_name_id_or_address_is_left(trace: Path, tmp_path: Path) -> None:
    assert len(leaks(trace.read_bytes())) > 12
    anonymize([str(trace)], str(tmp_path / "out.txt"), tmp_path / "mapping")
    assert leaks((tmp_path / "out.txt").read_bytes()) == []


def test_every_other_field_stays_as_it_was(trace: Path, tmp_path: Path) -> None:
    anonymize([str(trace)], str(tmp_path / "out.txt"), tmp_path / "mapping")
    mapped = MAPPED.sub("…", (tmp_path / "out.txt").read_text())
    assert mapped == MAPPED.sub("…", TEXT)


def test_damaged_lines_and_comments_are_dropped_and_counted(trace: Path, tmp_path: Path) -> None:
    summary = anonymize([str(trace)], str(tmp_path / "out.txt"), tmp_path / "mapping")
    dropped = {"bad-address": 1, "funny-line": 1, "unknown-field": 1}
    assert summary.damaged_dropped == dropped
    assert summary.comments_dropped == 1
    assert summary.records_in == summary.records_out + 1 + 3 == len((TEXT + DAMAGED).splitlines())
    set_aside = ingest([trace], tmp_path / "dataset").records_set_aside
    assert sum(set_aside.values()) == sum(dropped.values())


def test_names_keep_their_relations(trace: Path, tmp_path: Path) -> None:
    anonymize([str(trace)], str(tmp_path / "out.txt"), tmp_path / "mapping")
    found = names(tmp_path / "out.txt")
    plain, backup, link, target, again, from_, _, dot, versions, removed = found
    stem, suffix = plain.split(".")
    assert backup == removed == f"#{stem}.{suffix}#"
    assert link == from_
    assert target == again
    assert re.fullmatch(r"/[a-z0-9]{11}/\.\./[a-z]", target)
    assert dot == "."
    assert versions.endswith(",v")


def test_names_that_stay_do_and_others_never_become_one(tmp_path: Path) -> None:
    words = ["CVS", ".inbox", "x.lock", ".pinerc", "inbox.CVS", *"abcdefgh"]
    text = "".join(
        f'{i}.0 1.1 2.801 U C3 {i} 3 lookup fh 01 name "{word}" con = XXX len = XXX\n'
        for i, word in enumerate(words)
    )
    (tmp_path / "in").write_text(text)
    anonymize([str(tmp_path / "in")], str(tmp_path / "out"), tmp_path / "mapping")
    found = names(tmp_path / "out")
    assert found[:2] == ["CVS", ".inbox"]
    assert found[2].endswith(".lock")
    assert found[3:5] == [".pinerc", "inbox.CVS"]
    assert len(set(found)) == len(found)


def test_addresses_become_addresses_and_numbers_numbers(tmp_path: Path) -> None:
    line = "1.0 {}.1 {}.801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"
    (tmp_path / "in").write_text(line.format("0a000001", "31") + line.format("0a000002", "31"))
    anonymize([str(tmp_path / "in")], str(tmp_path / "out"), tmp_path / "mapping")
    first, second = (line.split() for line in lines(tmp_path / "out"))
    assert re.fullmatch(r"f[0-9a-f]{7}\.1", first[1])  # 240.0.0.0/4, which nobody has
    assert first[1] != second[1]
    assert re.fullmatch(r"[0-9a-f]{4,7}\.801", first[2])
    assert first[2] == second[2]


def test_tomorrow_is_mapped_as_today_was(trace: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping"
    anonymize([str(trace)], str(tmp_path / "today"), mapping)
    before = mapping.read_text().splitlines()
    tomorrow = TEXT.replace("Xylophon", "Marzipan")
    (tmp_path / "tomorrow.txt").write_text(tomorrow)
    anonymize([str(tmp_path / "tomorrow.txt")], str(tmp_path / "then"), mapping)
    today, then = names(tmp_path / "today"), names(tmp_path / "then")
    assert [i for i, pair in enumerate(zip(today, then, strict=True)) if pair[0] != pair[1]] == [6]
    assert set(before[:-1]) < set(mapping.read_text().splitlines())


def test_other_mappings_and_other_seeds_map_otherwise(trace: Path, tmp_path: Path) -> None:
    for name, seed in (("a", None), ("b", None), ("c", 1), ("d", 2), ("e", 1)):
        anonymize([str(trace)], str(tmp_path / name), tmp_path / f"{name}.mapping", seed=seed)
    texts = {name: (tmp_path / name).read_text() for name in "abcde"}
    assert len({texts[name] for name in "abcd"}) == 4
    assert texts["c"] == texts["e"]


def test_handles_may_stay(trace: Path, tmp_path: Path) -> None:
    settings = Settings(handles="keep")
    anonymize([str(trace)], str(tmp_path / "out"), tmp_path / "mapping", settings)
    handles = re.compile(r"(?<= fh )\S+")
    assert handles.findall((tmp_path / "out").read_text()) == handles.findall(TEXT)


def test_omitted_values_are_left_out(trace: Path, tmp_path: Path) -> None:
    settings = Settings(omit=("names", "users", "groups", "addresses"))
    anonymize([str(trace)], str(tmp_path / "out"), tmp_path / "mapping", settings)
    text = (tmp_path / "out").read_text()
    assert not re.search(r"name|sdata|uid|gid", text.replace("rename", ""))
    assert {line.split()[1] for line in text.splitlines()} == {"0.03f7", "0.0801"}
    summary = ingest([tmp_path / "out"], tmp_path / "dataset")
    assert summary.records_set_aside == {}


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2", "zst"])
def test_the_output_is_compressed_as_its_name_says(
    trace: Path, tmp_path: Path, suffix: str
) -> None:
    plain, packed = tmp_path / "plain.txt", tmp_path / f"packed.txt.{suffix}"
    anonymize([str(trace)], str(plain), tmp_path / "mapping")
    anonymize([str(trace)], str(packed), tmp_path / "mapping")
    if suffix == "gz":
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    if suffix == "xz":
        assert lzma.decompress(packed.read_bytes()) == plain.read_bytes()
    first, second = (ingest([path], tmp_path / f"{path.name}.d") for path in (plain, packed))
    assert second.traces[0].compression != "none"
    assert first.procedures == second.procedures


def test_standard_input_and_output(trace: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping"
    piped = run("-", "--mapping", mapping, "--out", "-", "--json", stdin=trace.read_bytes())
    assert piped.returncode == 0
    assert json.loads(piped.stderr)["records_out"] == len(TEXT.splitlines())
    again = run(trace, "--mapping", mapping, "--out", tmp_path / "out.txt")
    assert again.returncode == 0
    assert piped.stdout == (tmp_path / "out.txt").read_bytes()
    assert b"14 written + 1 comment + 3 damaged" in again.stdout


def test_several_texts_become_one(trace: Path, tmp_path: Path) -> None:
    copy = shutil.copy(trace, tmp_path / "copy.txt")
    summary = anonymize([str(trace), str(copy)], str(tmp_path / "out"), tmp_path / "mapping")
    found = lines(tmp_path / "out")
    assert found[: len(found) // 2] == found[len(found) // 2 :]
    assert summary.records_out == len(found)


def limit_files(size: int) -> None:
    """Limit the size of files, so that writing fails as on a full disk (errno EFBIG)."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("name", ["out.txt", "out.gz"])
def test_a_full_disk_leaves_neither_output_nor_mapping(
    trace: Path, tmp_path: Path, name: str
) -> None:
    # the text does not fit; compressed it would, but the mapping does not
    out, mapping = tmp_path / name, tmp_path / "mapping"
    failed = run(trace, "--mapping", mapping, "--out", out, preexec_fn=lambda: limit_files(1500))
    assert failed.returncode == 1
    assert b"File too large" in failed.stderr
    assert (b"mapping" in failed.stderr) == (name == "out.gz")
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".mapping.lock", trace]


def test_a_full_disk_leaves_what_was_there(trace: Path, tmp_path: Path) -> None:
    out, mapping = tmp_path / "out", tmp_path / "mapping"
    assert run(trace, "--mapping", mapping, "--out", out).returncode == 0
    before = out.read_bytes(), mapping.read_bytes()
    (tmp_path / "more").write_text(TEXT.replace("Xylophon", "Marzipan") * 40)
    failed = run(
        tmp_path / "more", "--mapping", mapping, "--out", out, preexec_fn=lambda: limit_files(5000)
    )
    assert failed.returncode == 1
    assert (out.read_bytes(), mapping.read_bytes()) == before
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600


def test_other_formats_than_text_are_refused(tmp_path: Path) -> None:
    refused = run("-", "--mapping", tmp_path / "mapping", "--out", "-", stdin=b"\x01\x02\x03")
    assert refused.returncode == 1
    assert refused.stderr == b"birthmark: -: expected nfsdump text\n"


def test_the_output_may_be_neither_an_input_nor_the_mapping(trace: Path, tmp_path: Path) -> None:
    for out in (trace, tmp_path / "mapping"):
        with pytest.raises(ValueError, match="apart from the inputs and the mapping"):
            anonymize([str(trace)], str(out), tmp_path / "mapping")
    assert trace.read_text() == TEXT + DAMAGED
