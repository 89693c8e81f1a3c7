"""The command line as a person meets it: exit codes, and one line for each mistake."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from tenure import __version__
from tenure.cli import main as command_line
from tenure.errors import UsageError


def add_verb(monkeypatch: pytest.MonkeyPatch, error: BaseException | None, code: int = 0) -> None:
    """Replaces all verbs by one, `try`, that raises `error` or gives back `code`."""

    @click.command("try")
    def try_command() -> int:
        if error is not None:
            raise error
        return code

    monkeypatch.setattr(command_line.LazyVerbs, "get_command", lambda self, ctx, name: try_command)


def test_a_persons_mistake_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_verb(monkeypatch, UsageError("there is no train.py here; name the script to run"))
    assert command_line.run_command_line(["try"]) == 2
    assert capsys.readouterr() == ("", "tenure: there is no train.py here; name the script to run\n")


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    add_verb(monkeypatch, KeyboardInterrupt())
    assert command_line.run_command_line(["try"]) == 130


def test_our_own_bug_shows_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    add_verb(monkeypatch, ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError, match="ours"):
        command_line.run_command_line(["try"])


def test_a_verbs_code_is_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    add_verb(monkeypatch, None, code=1)
    assert command_line.run_command_line(["try"]) == 1


@pytest.mark.parametrize("arguments", [["walk"], ["--colour"], ["diagnose"], ["explain", "TN101", "TN102"]])
def test_a_wrong_command_line_says_how_to_ask_and_exits_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.run_command_line(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: tenure")


def test_no_arguments_at_all_show_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.run_command_line([]) == 2
    assert "diagnose" in "".join(capsys.readouterr())


def test_version_and_help_go_to_stdout_with_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.run_command_line(["--version"]) == 0
    assert capsys.readouterr() == (f"tenure, version {__version__}\n", "")
    assert command_line.run_command_line(["--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [verb for verb in command_line.VERBS if f"\n  {verb} " not in out] == []


def test_a_reader_that_leaves_early_causes_no_complaint() -> None:
    many = "import sys; from tenure.cli import main as m; import click\n"
    many += "m.LazyVerbs.get_command = lambda *a: click.Command('many', callback=lambda: [click.echo('x' * 1000)"
    many += " for _ in range(1000)])\nsys.exit(m.run_command_line(['many']))"
    with subprocess.Popen([sys.executable, "-c", many], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", command_line.CLOSED_PIPE)
