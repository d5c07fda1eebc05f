"""Nothing that others chose does anything to the terminal of who reads it."""

from __future__ import annotations

import ast
import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table

from birthmark import cli, terminal
from birthmark.layout_hint.report.grid import grid
from birthmark.training.registry.versions import Registry
from tests.serving.services import publish
from tests.terminals import lines, on_terminal

PATHS = st.lists(st.text("ab/é漢", min_size=1, max_size=80), unique=True, max_size=8)

FORGED = "\x1b[31m\r\n\x9b2J\u202egpj\u2066[bold]:x:"
CONTROLS = [*map(chr, range(1, 32)), *map(chr, range(127, 160)), *"\u200f\u202a\u202e\u2066\u2069"]
NAMES = st.text(st.sampled_from([*CONTROLS, *"ab[]:x é\udcff"]), min_size=1, max_size=12)

PROGRAM = sorted({*Path(cli.__file__).parent.rglob("*.py")} - {Path(terminal.__file__)})


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry at a forged path, whose model learned forged names."""
    registry = tmp_path_factory.mktemp("forged") / FORGED
    publish(registry, suffix=f"lock{FORGED}", card=True)
    return registry


def run(*arguments: object) -> tuple[int, str]:
    """Run the command line here; return its exit code, and all that it prints."""
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["birthmark", *map(str, arguments)])
        patch.setattr(sys, "stdout", output)
        patch.setattr(sys, "stderr", output)
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0), output.getvalue()


def plain(output: str) -> bool:
    """Return whether something was printed, without control characters."""
    return bool(output) and all(line.isprintable() for line in output.split("\n"))


@settings(max_examples=25)
@given(NAMES)
def test_explain_escapes_control_characters_in_a_name(registry: Path, name: str) -> None:
    code, output = run("predict", "--explain", "--registry", registry, "--", name)
    assert plain(output)
    assert code == 0 or "birthmark: " in output


@settings(max_examples=25)
@given(NAMES)
def test_errors_of_ingest_are_a_line_whatever_the_trace_is_called(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / name
        trace.write_bytes(os.fsencode(name))
        code, output = run("ingest", trace, "--out", Path(folder) / "out")
    assert code == 1
    assert plain(output)
    assert output.count("\n") == 1


@settings(max_examples=25)
@given(NAMES)
def test_unknown_words_are_shown_with_escapes(word: str) -> None:
    for arguments in ((word,), (f"--{word}",), ("predict", f"--{word}"), ("serve", "--port", word)):
        code, output = run(*arguments)
        assert code == 2
        assert plain(output)


def test_rules_and_versions_show_what_was_learned_and_where(registry: Path) -> None:
    for command in (("models", "rules", "--top", "1000"), ("models", "show"), ("models", "list")):
        code, output = run(*command, "--registry", registry)
        assert (code, plain(output)) == (0, True)
    assert r"\x1b" in run("models", "rules", "--top", "1000", "--registry", registry)[1]


def test_scan_escapes_control_characters_in_directories_and_files(tmp_path: Path) -> None:
    out = tmp_path / f"{FORGED}.csv"
    counts = tmp_path / "counts.csv"
    code, output = run("scan", "data/samples/day1.parquet", "--by", "client", "--out", out)
    assert (code, plain(output)) == (0, True)
    counts.write_text(out.read_text().replace("127.0.0.11", '"\x1b[31m\u202e:x:"'))
    code, output = run("top", "table", counts)
    assert (code, plain(output)) == (0, True)
    assert r"\x1b[31m\u202e:x:" in output


def test_other_values_than_strings_are_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name")
    table.add_row(terminal.styled("a\x1b[31m", "red"))
    terminal.show(table)
    assert r"a\x1b[31m" in capsys.readouterr().out


def test_neither_markup_nor_emoji_is_made_of_text(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.line("root:x:0 [bold]")
    assert capsys.readouterr().out == "root:x:0 [bold]\n"


@pytest.mark.parametrize("path", PROGRAM, ids=lambda path: path.stem)
def test_nothing_but_the_terminal_module_prints_for_people(path: Path) -> None:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    assert not [
        node
        for node in tree
        if (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.ImportFrom) and node.module in ("rich.console", "rich.text"))
    ]


def hears_ctrl_c() -> None:
    """Let a program that begins hear it, though who runs the tests in the background does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_without_a_word_while_modules_are_imported() -> None:
    program = (
        "import signal, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'birthmark.cli':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from birthmark.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, check=False, preexec_fn=hears_ctrl_c)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "birthmark", "ingest", "-", "--out", tmp_path / "out"]
    pipes = dict.fromkeys(("stdin", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, preexec_fn=hears_ctrl_c, **pipes) as ingest:
        assert ingest.stdin is not None
        while not list(tmp_path.iterdir()):  # it has begun
            ingest.stdin.write(b"# \n" * 1000)
            ingest.stdin.flush()
        ingest.send_signal(signal.SIGINT)
        _, output = ingest.communicate()
    assert ingest.returncode == 130
    assert b"Traceback" not in output


def test_titles_and_headings_of_several_lines_keep_them(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(grid("Operations\nfresh", "\nDay", "Target\ntotal"))
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[:4]] == [
        "Operations",
        "fresh",
        "",
        "Target",
    ]


LONG = "first __init__, middle none, mode 0664, last sqlite-journal " * 4


def wide(columns: str) -> list[str]:
    """Return the lines of a table with long text, on a terminal of so many columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", columns)
        output = io.StringIO()
        patch.setattr(sys, "stdout", output)
        shown = terminal.table(
            "predicate", *terminal.words("rule"), *terminal.numbers("decides", "n"), title="Rules"
        )
        shown.add_row("name:lifespan<=30", LONG, "12,345,678", "1")
        terminal.show(shown)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def test_a_table_is_as_wide_as_the_terminal_and_wraps_what_is_long() -> None:
    lines = wide("80")
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Rules"
    assert " ".join(LONG.split()) in " ".join(" ".join(line.split()) for line in lines).replace(
        "name:lifespan<=30 ", ""
    ).replace(" 12,345,678 1", "")


def test_a_terminal_too_narrow_for_a_table_wraps_its_lines_and_loses_nothing() -> None:
    lines = wide("30")
    assert "12,345,678" in "".join(lines)
    assert "…" not in "".join(lines)
    assert sum(line.count("sqlite") for line in lines) == 4


def test_versions_and_predictions_and_rules_fit_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    registry = tmp_path / "registry"
    publish(registry, suffix="sqlite-journal" * 6, heat=True, card=True)
    Registry(registry).pin(str(Registry(registry).current()))
    for command in (
        ("models", "list"),
        ("models", "rules"),
        ("predict", "a.lock"),
        ("predict", "--explain", "a.lock"),
    ):
        code, output = run(*command, "--registry", registry)
        assert code == 0
        assert max(map(len, output.splitlines())) <= 80, command


def test_a_terminal_gets_colour_unless_no_colour_is_wanted(tmp_path: Path) -> None:
    publish(tmp_path / "registry")
    command = ("predict", "a.lock", "--registry", tmp_path / "registry")
    green = "\x1b[32m"
    assert green in on_terminal(command)[1]
    assert green not in on_terminal(command, NO_COLOR="1")[1]


def test_a_terminal_shows_a_long_line_in_several_and_breaks_no_word(tmp_path: Path) -> None:
    path = tmp_path / ("nothing-here" * 8)
    code, output = on_terminal(("models", "show", "--registry", path))
    assert code != 0
    shown = lines(output)
    assert [each for each in shown if str(path) not in each and len(each) > 80] == []
    assert any(str(path) in each for each in shown)
    piped = run("models", "show", "--registry", path)[1]
    assert piped.count("\n") == 1
    assert " ".join(output.split()) == piped.strip()


@given(paths=PATHS, room=st.integers(8, 60))
def test_shortened_paths_have_room_and_one_that_has_room_stays(paths: list[str], room: int) -> None:
    found = terminal.shortened_apart(paths, room)
    assert all(cell_len(each) <= room for each in found)
    assert all(each == path for each, path in zip(found, paths, strict=True) if path in found)


@given(
    head=st.text("ab/", max_size=60),
    tails=st.lists(st.text("cd/", min_size=1, max_size=30), min_size=2, max_size=6, unique=True),
    end=st.text("ef/", max_size=60),
    room=st.integers(16, 60),
)
def test_paths_that_differ_are_shortened_to_texts_that_differ(
    head: str, tails: list[str], end: str, room: int
) -> None:
    paths = [f"{head}{tail}{end}" for tail in tails]
    assert len(set(terminal.shortened_apart(paths, room))) == len(set(paths))
