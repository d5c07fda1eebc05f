"""The command line as a user meets it."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from birthmark import cli
from birthmark.data.samples import DAYS
from tests import needs
from tests.builders import captures
from tests.folders import FOLDERS, RESEARCH


def birthmark(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "birthmark", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("command", cli.commands())
def test_every_command_explains_itself(command: str) -> None:
    run = birthmark(command, "--help")
    assert run.returncode == 0
    assert b"Usage" in run.stdout


def test_a_command_that_there_is_not_is_refused_with_one_that_is_like_it() -> None:
    run = birthmark("ingets")
    assert run.returncode == 2
    assert b"No such command 'ingets' (did you mean 'ingest'?)." in run.stderr


@pytest.mark.parametrize("name", cli.commands())
def test_a_group_lists_each_command_on_one_line(name: str) -> None:
    groups = [cli.command(name)]
    for group in groups:
        inner = getattr(group, "commands", {})
        room = 80 - len("│  ") - len("  │") - max(map(len, inner), default=0)
        for command in inner.values():
            first, *_ = command.help.split("\n\n")
            assert len(first) <= room, first
            groups.append(command)


@pytest.mark.parametrize("command", cli.commands())
def test_the_line_of_a_command_is_the_first_of_its_own_help(command: str) -> None:
    line, *_ = cli.command(command).help.split("\n\n")
    assert " ".join(line.split()) == cli.commands()[command].help


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_the_help_fits_one_screen(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = birthmark(*arguments).stdout.decode().splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
    listed = [*cli.GROUPS["Traces"], *cli.GROUPS["Models"]]
    assert [line[13:].split()[0] for line in shown[2 : 2 + len(listed)]] == listed


def test_the_help_lists_few_commands_in_groups_and_no_old_spelling() -> None:
    titles = dict.fromkeys(found.title for found in cli.commands().values())
    expected = ["Traces", "Models", "Service", "Placement and storage", "Research"]
    assert list(titles) == expected[: 4 + (RESEARCH in FOLDERS)]
    assert len(cli.commands()) <= 20
    shown = birthmark("--help").stdout.decode()
    for name, found in cli.commands().items():
        assert re.search(rf" {name} +{re.escape(found.help)}", shown)
    assert [old for old in cli.renamed() if re.search(rf"^.{{13}}{old} ", shown, re.M)] == []
    for group in ("models", "scan"):
        within = birthmark(group, "--help").stdout.decode()
        assert not re.search(r"│ (compare|top) ", within)


REQUIRED = {
    "evaluate report": ["--registry", "none", "--out", "report.html"],
    "evaluate windows": ["--test", "/no/such/file"],
    "models image": ["--out", "image"],
    "research block-replay": ["--drive", "barracuda"],
    "research validate": ["--drive", "barracuda"],
    "research workload": ["--out", "out"],
}
"""Options without which a command refuses its arguments."""


@pytest.mark.parametrize(("old", "new"), cli.renamed().items())
def test_an_old_spelling_runs_the_new_one_and_prints_it(old: str, new: str) -> None:
    for arguments in (["--help"], ["/no/such/file", *REQUIRED.get(new, [])]):
        before, now = birthmark(*old.split(), *arguments), birthmark(*new.split(), *arguments)
        note, _, errors = before.stderr.decode().partition("\n")
        assert note == f"birthmark: `birthmark {old}` is now `birthmark {new}`"
        assert (before.returncode, before.stdout) == (now.returncode, now.stdout)
        assert errors == now.stderr.decode()


def completed(words: str) -> list[str]:
    """Return what bash offers for the last of some words."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv = ['birthmark']; from birthmark.__main__ import main; main()",
    ]
    environment = os.environ | asked | {"_BIRTHMARK_COMPLETE": "complete_bash"}
    run = subprocess.run(command, capture_output=True, check=True, env=environment, text=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("birthmark mo", ["models"]),
        ("birthmark models li", ["list"]),
        ("birthmark models list --re", ["--registry"]),
        ("birthmark predict --mo", ["--model", "--mode"]),
        ("birthmark explain --mo", ["--model", "--mode"]),
        ("birthmark evaluate --reg", ["--registry"]),
        ("birthmark evaluate ver", ["versions"]),
        ("birthmark layout f2fs li", ["lists"]),
        ("birthmark train --serve na", ["name"]),
        ("birthmark --ver", ["--version"]),
    ],
)
def test_a_command_line_is_completed(words: str, completions: list[str]) -> None:
    assert completed(words) == completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_a_shell(shell: str, tmp_path: Path) -> None:
    program = "import sys; sys.argv[0] = 'birthmark'; from birthmark.__main__ import main; main()"
    home = {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", program, "--install-completion", shell],
        capture_output=True,
        check=True,
        env=os.environ | home | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        text=True,
    )
    assert f"{shell} completion installed in {tmp_path}" in run.stdout
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "_BIRTHMARK_COMPLETE=complete_" in written


def test_ingest_prints_one_object_as_json_and_nothing_else(tmp_path: Path) -> None:
    run = birthmark("ingest", DAYS[0], "--out", tmp_path / "day", "--json")
    assert (run.returncode, run.stderr) == (0, b"")
    summary = json.loads(run.stdout)
    lookup = summary["procedures"]["lookup"]
    assert lookup["calls"] == lookup["replies"] == lookup["ok"] + lookup["errors"]
    assert summary["records_in"] == sum(summary["records_out"].values())


def test_ingest_reads_standard_input(tmp_path: Path) -> None:
    call = b"1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"
    run = birthmark("ingest", "-", "--out", tmp_path / "day", "--json", stdin=gzip.compress(call))
    assert json.loads(run.stdout)["calls_without_reply"] == {"getattr": 1}


def test_ingest_says_what_it_did(tmp_path: Path) -> None:
    run = birthmark("ingest", DAYS[0], "--out", tmp_path / "day")
    text = run.stdout.decode()
    assert run.stderr == b""
    for word in ("lookup", "records", "set aside", "period", "rows", "rate"):
        assert word in text


@pytest.mark.parametrize(
    "command", ["ingest --out d", "scan --out c.csv", "anonymize --mapping m --out d", "dump"]
)
def test_a_capture_without_nfs_is_warned_of(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header = bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000")
    Path("dns.pcap").write_bytes(header)
    run = birthmark(*command.split(), "dns.pcap")
    assert run.returncode == 0
    line = run.stderr.decode()
    assert line.startswith("birthmark: warning: dns.pcap: holds no NFS")
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        *("ingest --out d", "ingest --json --out d", "scan --out c.csv", "scan", "top --once"),
        *("anonymize --mapping m --out d", "dump"),
    ],
)
def test_the_first_line_says_what_could_not_be_read_and_what_to_do(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tls.pcap").write_bytes(captures.tls(records=7))
    run = birthmark(*command.split(), "tls.pcap")
    assert run.returncode == 0
    first = run.stderr.decode().splitlines()[0]
    assert first.startswith(
        "birthmark: warning: tls.pcap: holds no NFS that could be read: 0% of 3,535 captured bytes"
        " of NFS traffic could be read; 100% (3,535 bytes) is encrypted by TLS (RFC 9289): "
    )
    if "--json" in command:
        assert json.loads(run.stdout)["warnings"] == [first.removeprefix("birthmark: warning: ")]


def test_a_dataset_says_again_what_could_not_be_read_of_its_captures(tmp_path: Path) -> None:
    trace, dataset = tmp_path / "tls.pcap", tmp_path / "day"
    trace.write_bytes(captures.tls(records=7))
    birthmark("ingest", trace, "--out", dataset)
    for command in (
        ("scan", dataset),
        ("train", dataset, "--registry", tmp_path / "registry"),
        ("storage", "fit", dataset),
        ("storage", "what-if", dataset, "--try", "threads=16"),
    ):
        run = birthmark(*command)
        assert run.stderr.startswith(f"birthmark: warning: {dataset}: 0% of 3,535 capt".encode())


def test_the_status_of_a_follower_says_what_could_not_be_read(tmp_path: Path) -> None:
    status = tmp_path / "status.json"
    command = ("follow", "-", tmp_path / "days", "--status", status, "--json")
    run = birthmark(*command, stdin=captures.tls(records=7))
    assert run.returncode == 0
    output = json.loads(status.read_text())["unread"]
    assert output.startswith("0% of 3,535 captured bytes of NFS traffic could be read; 100%")
    assert f"birthmark: warning: {output}\n".encode() in run.stderr
    assert json.loads(run.stdout)["unread"] == output


def test_ingest_says_what_compounds_of_version_4_held(tmp_path: Path) -> None:
    seeds = Path(__file__).resolve().parents[2] / "native/fuzz/corpus/capture"
    run = birthmark("ingest", seeds / "v4-fusenfs-0-24.pcap", "--out", tmp_path / "day")
    text = run.stdout.decode()
    assert (run.returncode, run.stderr) == (0, b"")
    assert "in compounds" in text
    assert "putrootfh" in text
    assert "not run   1 getattr, 1 getfh" in text
    # 2 messages of the null procedure, and 8 compounds, one without a reply
    assert "17 = 9 calls + 8 replies" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", "is no trace: it begins with"),
        (None, "No such file"),
    ],
)
def test_an_expected_error_is_one_line_that_names_the_file(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "input.bin"
    if content is not None:
        path.write_bytes(content)
    run = birthmark("ingest", path, "--out", tmp_path / "out")
    line = run.stderr.decode()
    assert run.returncode == 1
    assert line.count("\n") == 1
    assert str(path) in line
    assert message in line


def test_a_directory_is_refused_by_name(tmp_path: Path) -> None:
    run = birthmark("ingest", tmp_path, "--out", tmp_path / "out")
    assert run.returncode == 1
    assert f"{tmp_path}: is a directory; expected a trace file" in run.stderr.decode()


def quickstart(folder: Path, *options: str) -> str:
    """Run the quickstart in an empty folder; return what it prints."""
    run = subprocess.run(
        [sys.executable, "-m", "birthmark.quickstart", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    page = (folder / "quickstart" / "report.html").read_text()
    assert "src=" not in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    return run.stdout


@pytest.mark.deep
def test_the_quickstart_ends_in_one_screen(tmp_path: Path) -> None:
    printed = quickstart(tmp_path)
    steps, _, screen = printed.partition("\n\n")
    assert len(steps.splitlines()) == 4
    assert len(screen.splitlines()) <= 24
    assert all(len(line) <= 80 for line in screen.splitlines())
    right, without, majority = map(int, re.search(RIGHT, screen, re.S).groups())  # type: ignore[union-attr]
    assert majority < without < right
    assert len(re.findall(r"(?:right|wrong) *$", screen, re.M)) == 6
    assert "quickstart/report.html" in screen
    assert "Birthmark answers" not in printed
    assert "model" in (tmp_path / "quickstart" / "log").read_text()


RIGHT = r"Accuracy: (\d+)% of the answers .*, (\d+)% without\s+history, (\d+)% for always"


@needs.folder_research
def test_an_extension_module_that_was_not_built_is_named() -> None:
    command = ["birthmark", "research", "validate", "requests", "--drive", "barracuda"]
    program = (
        "import sys; from birthmark.cli import main;"
        f" sys.modules['birthmark.research.native'] = None; sys.argv = {command}; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = "birthmark.research.native: is not built; run `make install` in the checkout\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"birthmark: {expected}"
