from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from tenure.cli import doctor
from tenure.cli.main import run_command_line

WITHOUT_TORCH = doctor.Examination(
    versions={"tenure": "0.1.0", "python": "3.11.7", "torch": "not installed"},
    settings={},
    memory=("tensors    none: this process has not imported torch",),
    recording={"walker": "native"},
    advice=("torch is not installed beside this Tenure; install Tenure where your torch is",),
)

TEXT = """\
versions
  tenure  0.1.0
  python  3.11.7
  torch   not installed

memory
  tensors    none: this process has not imported torch

allocator settings
  none set: the defaults hold

recording
  walker  native

advice
  torch is not installed beside this Tenure; install Tenure where your torch is"""


def test_an_examination_is_a_line_each() -> None:
    assert "\n".join(doctor.describe(WITHOUT_TORCH)) == TEXT


def test_no_line_of_an_examination_is_wider_than_the_terminal() -> None:
    text = "together   host: 222.02 MiB resident = CPU tensors 0 B + everything else 222.02 MiB"
    lines = doctor.describe(replace(WITHOUT_TORCH, memory=(text,)), width=60)

    assert [line for line in lines if len(line) > 60] == []
    assert lines[6:8] == [
        "  together   host: 222.02 MiB resident = CPU tensors 0 B +",
        "             everything else 222.02 MiB",
    ]
    assert lines[-2:] == ["  torch is not installed beside this Tenure; install Tenure", "    where your torch is"]


def test_without_torch_the_doctor_still_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "ask_torch", lambda: ({}, "not installed"))
    assert run_command_line(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == ["format", "versions", "settings", "memory", "recording", "advice", "known_leaks"]
    assert answer["versions"]["torch"] == "not installed"
    assert "install Tenure where your torch is" in answer["advice"][0]


def test_a_torch_that_cannot_be_imported_is_said_with_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_ASK_TORCH", "raise ImportError('libcudart.so.12: cannot open')")
    assert doctor.ask_torch() == ({}, "cannot be imported: ImportError: libcudart.so.12: cannot open")


def test_a_python_that_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert doctor.ask_torch() == ({}, "did not answer (FileNotFoundError)")


def test_advice_names_what_switches_recording_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE", "0")
    advice = doctor._advice({"cuda": "12.8"}, "", walker="native")
    assert advice == ["TENURE=0 is set: recording is switched off"]


@pytest.mark.slow
def test_the_real_torch_is_asked_in_a_process_of_its_own() -> None:
    had_torch = "torch" in sys.modules
    answer, trouble = doctor.ask_torch()
    assert trouble == ""
    assert {"version", "cuda", "import_seconds", "num_devices", "has_mps", "memory"} <= set(answer)
    assert ("torch" in sys.modules) == had_torch
