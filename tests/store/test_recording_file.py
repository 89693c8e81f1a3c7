from __future__ import annotations

import errno
import json
import os
from dataclasses import fields
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.recorder import empty_census
from tenure.errors import NewerFormatError, RecordingError
from tenure.model.heap import Census
from tenure.model.recording import CensusEntry, Note, ParametersEntry, ProgramEnd, Recording, Step
from tenure.model.source import SourceFile
from tenure.store.census_file import read_census as read_census_file
from tenure.store.census_file import write_census
from tenure.store.format import FORMAT, STEPS
from tenure.store.recording_file import (
    RecordingWriter,
    add_exit_code,
    list_recordings,
    open_recording,
    read_census,
    read_sources,
)


def write_recording(folder: Path) -> Path:
    """Two steps, one census, a note, a source and an end."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = RecordingWriter(folder, process={"argv": ["train.py"], "time": 5.0})
    writer.append({"kind": "step", "step": 1, "time": 0.1, "seconds": 0.1, "counters": {"rss_bytes": 7}})
    write_census(folder / "census-000001.npz", empty_census(strings=("a", "b")))
    census = {"step": 1, "moment": "step-end", "file": "census-000001.npz", "seconds": 0.5, "num_objects": 9}
    writer.append({"kind": "census", **census})
    writer.append({"kind": "note", "level": "info", "text": "hm", "step": 1})
    (folder / "sources").mkdir(exist_ok=True)
    (folder / "sources" / "00ff.py").write_text("import torch\n")
    source = {"path": "/home/me/train.py", "file": "00ff.py", "origin": "library"}
    writer.append({"kind": "source", **source})
    writer.append({"kind": "step", "step": 2, "time": 0.2, "seconds": 0.1})
    writer.append({"kind": "end", "reason": "exit", "exit_code": None, "steps": 2})
    writer.close()
    return folder


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    folder = write_recording(tmp_path)

    assert open_recording(folder) == Recording(
        path=str(folder),
        process={"argv": ["train.py"], "time": 5.0},
        steps=(Step(1, 0.1, 0.1, {"rss_bytes": 7}), Step(2, 0.2, 0.1)),
        censuses=(CensusEntry(1, "step-end", "census-000001.npz", 0.5, 9),),
        notes=(Note("info", "hm", 1),),
        sources={"/home/me/train.py": "00ff.py"},
        end={"reason": "exit", "exit_code": None, "steps": 2},
    )
    assert read_sources(open_recording(folder)) == (SourceFile("/home/me/train.py", "import torch\n", "library"),)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfname = 1\r\n", "name = 1\n"),
        (b"name = 1\r", "name = 1\n"),
        ("# coding: latin-1\ngröße = 1\n".encode("latin-1"), "# coding: latin-1\ngröße = 1\n"),
        (b"# coding: none\nx = '\xff'\n", "# coding: none\nx = '\ufffd'\n"),
    ],
    ids=["a mark and the line ends of Windows", "line ends of old", "a declared encoding", "one that is none"],
)
def test_a_source_is_read_as_python_reads_it(data: bytes, text: str, tmp_path: Path) -> None:
    folder = write_recording(tmp_path)
    (folder / "sources" / "00ff.py").write_bytes(data)

    assert [each.text for each in read_sources(open_recording(folder))] == [text]


def test_rows_cut_at_any_byte_open_with_a_whole_beginning_or_say_one_line(tmp_path: Path) -> None:
    folder = write_recording(tmp_path)
    rows = (folder / "rows-000001.jsonl").read_bytes()
    whole = open_recording(folder)
    for cut in range(len(rows)):
        (folder / "rows-000001.jsonl").write_bytes(rows[:cut])
        if cut < rows.index(b"\n"):
            with pytest.raises(RecordingError, match=r"\A.*holds no whole row.*\Z"):
                open_recording(folder)
            continue
        opened = open_recording(folder)
        torn = bool(rows[:cut].split(b"\n")[-1]) and rows[cut : cut + 1] != b"\n"
        assert opened.steps == whole.steps[: len(opened.steps)]
        assert any("torn" in note.text for note in opened.notes) == torn


def test_a_census_cut_at_any_byte_is_left_out_with_a_note(tmp_path: Path) -> None:
    folder = write_recording(tmp_path)
    path = folder / "census-000001.npz"
    data = path.read_bytes()
    for cut in range(0, len(data), 7):
        path.write_bytes(data[:cut])
        opened = open_recording(folder)
        assert opened.censuses == ()
        assert opened.notes[-1] == Note("warning", "census-000001.npz is cut and was left out", 1)
        with pytest.raises(RecordingError):
            read_census_file(path)


@pytest.mark.parametrize("cut", [0, 1, 10, 20])
def test_a_cut_process_file_is_one_clear_line(tmp_path: Path, cut: int) -> None:
    folder = write_recording(tmp_path)
    text = (folder / "process.json").read_text()
    (folder / "process.json").write_text(text[:cut])

    with pytest.raises(RecordingError, match=r"process\.json is damaged .*; the recording cannot be read"):
        open_recording(folder)


def test_what_the_parameters_were_is_read_by_step(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, process={})
    writer.append({"kind": "parameters", "step": 3, "digest": "ab", "count": 2, "norm": 1.5})
    writer.append({"kind": "parameters", "step": 4})
    writer.close()

    opened = open_recording(tmp_path)

    assert opened.parameters == (ParametersEntry(3, "ab", 2, 1.5),)
    assert [note.text for note in opened.notes] == [
        "the last row was torn and left out; the program or the disk stopped while writing"
    ]


def test_unknown_kinds_are_counted_and_unknown_keys_do_no_harm(tmp_path: Path) -> None:
    folder = write_recording(tmp_path)
    with (folder / "rows-000001.jsonl").open("a") as file:
        file.write('{"kind":"weather","sun":1}\n{"kind":"weather"}\n')
        file.write('{"kind":"step","step":3,"time":1,"seconds":1,"mood":"good"}\n')

    opened = open_recording(folder)

    assert opened.steps[-1].step == 3
    assert opened.notes[-1] == Note("info", "2 rows of the unknown kind 'weather' were left out")


def test_a_newer_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    folder = write_recording(tmp_path)
    rows = folder / "rows-000001.jsonl"
    rows.write_text(rows.read_text().replace(f'"format":{FORMAT}', '"format":7'))

    with pytest.raises(NewerFormatError, match=f"of format 7; this Tenure reads up to {FORMAT}: upgrade Tenure"):
        open_recording(folder)


def test_a_missing_recording_says_what_is_there(tmp_path: Path) -> None:
    write_recording(tmp_path / "run" / "rank-00000")
    write_recording(tmp_path / "run" / "rank-00001")

    with pytest.raises(RecordingError, match="no such recording; `tenure run -o"):
        open_recording(tmp_path / "nowhere")
    with pytest.raises(RecordingError, match="of 2 processes; open one of rank-00000, rank-00001"):
        open_recording(tmp_path / "run")
    assert [Path(path).name for path in list_recordings(tmp_path / "run")] == ["rank-00000", "rank-00001"]


def test_an_exit_code_completes_the_end_and_a_killed_recording_gets_a_note(tmp_path: Path) -> None:
    ended, killed = write_recording(tmp_path / "ended"), write_recording(tmp_path / "killed")
    rows = killed / "rows-000001.jsonl"
    rows.write_bytes(rows.read_bytes()[:-20])

    add_exit_code(ended, 3)
    add_exit_code(killed, -9, at=1e9)

    assert open_recording(ended).end == {"reason": "exit", "exit_code": 3, "steps": 2}
    assert open_recording(killed).end is None
    assert open_recording(killed).notes[1].text.startswith("the program was ended by signal 9")
    assert [open_recording(each).program_end for each in (ended, killed)] == [ProgramEnd(3), ProgramEnd(-9, 1e9)]
    assert [open_recording(each).how_it_ended for each in (ended, killed)] == ["exit", "signal 9"]


def test_a_disk_that_fails_switches_the_writer_off(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "missing", process={})
    writer.append({"kind": "note", "level": "info", "text": "lost"}, flush=True)

    assert not writer.is_open
    assert writer.failure is not None
    assert writer.failure.endswith("No such file or directory")


def test_a_disk_that_becomes_full_is_told_with_the_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for the reason was taken before."""
    writer = RecordingWriter(tmp_path, process={})
    writer.add_row(STEPS, (7, 0.5, 0.1, {}))
    writer.flush()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("tenure.store.recording_file.append_whole", Mock(side_effect=full))
    writer.append({"kind": "note", "level": "info", "text": "lost"}, flush=True)
    writer.close()

    recording = open_recording(tmp_path)

    assert recording.how_it_ended == "disk"
    assert [note.text for note in recording.notes] == [
        f"recording stopped after step 7, the program went on: cannot write the recording {tmp_path}: "
        "No space left on device"
    ]


def test_a_recording_that_ends_well_leaves_no_room_behind(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, process={})
    during = sorted(path.name for path in tmp_path.iterdir())
    writer.close()

    assert during == ["last-words.json", "process.json", "rows-000001.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["process.json", "rows-000001.jsonl"]


def as_lists(census: Census) -> dict[str, object]:
    tables = {
        name: {field.name: getattr(table, field.name).tolist() for field in fields(table)}
        for name, table in (
            ("nodes", census.nodes),
            ("references", census.references),
            ("storages", census.storages),
        )
    }
    return tables | {"strings": census.strings, "notes": census.notes, "step": census.step}


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
    st.lists(st.text(st.characters(), max_size=8), max_size=3),
)
def test_any_numbers_and_texts_survive(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], texts: list[str]
) -> None:
    blank = empty_census(strings=tuple(texts))
    column = np.array(numbers, dtype=np.int64)
    storages = type(blank.storages)(**{field.name: column for field in fields(blank.storages)})
    census = Census(4, "exit", 0.25, 8, tuple(texts), blank.nodes, blank.references, storages, ("note",))
    path = tmp_path_factory.mktemp("census") / "census-000004.npz"

    write_census(path, census)

    assert as_lists(read_census(path)) == as_lists(census)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_census_holds_no_pickle(tmp_path: Path) -> None:
    path = tmp_path / "census-000001.npz"
    np.savez(path, head=np.array([{"a": 1}], dtype=object))

    with pytest.raises(RecordingError, match="is no whole census"):
        read_census(path)


def test_rows_are_json_one_to_a_line(tmp_path: Path) -> None:
    rows = (write_recording(tmp_path) / "rows-000001.jsonl").read_text().splitlines()

    kinds = [json.loads(row)["kind"] for row in rows]
    assert kinds == ["header", "step", "census", "note", "source", "step", "end"]
