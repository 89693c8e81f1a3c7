"""What the recorder writes: rows, censuses and copies of sources, in a folder that is made at the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure import __version__
from tenure.capture.system.host import describe_process
from tenure.capture.writing.local_first import finish_staging, stage
from tenure.capture.writing.sources import SourceCopies
from tenure.store.format import (
    CENSUS,
    CENSUS_WANTED_FILE,
    END,
    HISTORY,
    NOTE,
    PARAMETERS,
    PROFILE,
    SAMPLES,
    STEPS,
    name_census_file,
    name_profile_file,
    name_stream_file,
)
from tenure.store.recording_file import RecordingWriter
from tenure.store.staging import Staging

if TYPE_CHECKING:
    from tenure.capture.writing.history_writing import WrittenHistory
    from tenure.capture.writing.parameter_hashes import ParameterHash
    from tenure.model.heap import Census
    from tenure.model.profile import StepProfile
    from tenure.model.stream import StepStream


class Journal:
    """Opened by its first row, so that a process that makes no step leaves nothing behind."""

    def __init__(self, claim_folder: Callable[[], Path], *, time_origin: float | None = None) -> None:
        self._claim_folder = claim_folder
        self._time_origin = time_origin
        self._writer: RecordingWriter | None = None
        self._sources: SourceCopies | None = None
        self._types: set[str] = set()
        self._staging: Staging | None = None

    @property
    def failure(self) -> str | None:
        """Why nothing can be written any more; None while it can."""
        return self._writer.failure if self._writer is not None else None

    @property
    def num_lost(self) -> int:
        """Rows that were dropped because the disk did not answer."""
        return self._writer.num_lost if self._writer is not None else 0

    def write_step(self, step: int, *, time: float, seconds: float, counters: Mapping[str, int]) -> bool:
        """Add a step's row, which becomes text when it is written: this runs at every step. Keeps `counters`.

        False where nothing can be written any more: `failure` says why.
        """
        writer = self._writer
        if writer is None:
            writer = self._open()[0]
        return writer.add_row(STEPS, (step, time, seconds, counters))

    def write_sample(self, step: int, *, time: float, seconds: float, counters: Mapping[str, int]) -> None:
        """Add a sample's row where a recording is open; from any thread."""
        if self._writer is not None:
            self._writer.add_row(SAMPLES, (step, time, seconds, counters))

    def take_request(self) -> bool:
        """Whether somebody has asked for a census since the last time; from any thread."""
        if self._writer is None:
            return False
        folder = self._writer.folder if self._staging is None else self._staging.target
        try:
            (folder / CENSUS_WANTED_FILE).unlink()
        except OSError:
            return False
        return True

    def flush_if_due(self, *, seconds: float) -> None:
        """Write what waits where nothing was written for so long, and copy it where it belongs; from any thread."""
        if self._writer is not None:
            self._writer.flush_if_due(seconds=seconds)
        if self._staging is not None and self._staging.is_due():
            with suppress(OSError):  # tried again, and told at the end
                self._staging.copy()

    def write_census(self, census: Census) -> None:
        """Write the census file, its row, and copies of the program's files seen in it. May raise OSError.

        Seen are functions, frames and modules by their files, objects by those of their classes.
        """
        from tenure.model.heap import NodeKind
        from tenure.store.census_file import write_census

        writer, sources = self._open()
        name = name_census_file(census.step, census.moment)
        write_census(writer.folder / name, census)
        row: dict[str, Any] = {
            "kind": CENSUS,
            "step": census.step,
            "moment": census.moment,
            "file": name,
            "seconds": round(census.seconds, 6),
            "num_objects": census.num_objects,
            "bytes_by_role": _by_role(census, census.storages.bytes.tolist()),
            "storages_by_role": _by_role(census, [1] * len(census.storages.role)),
            "tensors_by_role": _by_role(census, census.storages.num_views.tolist()),
        }
        writer.append(row, flush=True)
        positions = set(census.nodes.file.tolist())
        sources.add_program(census.text(position) for position in positions if position >= 0)
        types = set(census.nodes.type[census.nodes.kind == NodeKind.OBJECT].tolist()) - {-1}
        sources.add_program(self._new_class_files(census.text(position) for position in sorted(types)))

    def write_profile(self, profile: StepProfile) -> None:
        """Write the profile's file, its row, and copies of the files whose statements it names. May raise OSError."""
        from tenure.store.profile_file import write_profile

        writer, sources = self._open()
        name = name_profile_file(profile.step)
        write_profile(writer.folder / name, profile)
        row = {"kind": PROFILE, "step": profile.step, "file": name, "seconds": profile.seconds}
        writer.append(row, flush=True)
        sources.add_program(profile.text(position) for position in set(profile.sites.file.tolist()))

    def write_stream(self, stream: StepStream) -> None:
        """Write the stream's file and copies of the files whose statements it names. May raise OSError."""
        from tenure.store.stream_file import write_stream

        writer, sources = self._open()
        write_stream(writer.folder / name_stream_file(stream.profile.step), stream)
        profile = stream.profile
        sources.add_program(profile.text(position) for position in set(profile.sites.file.tolist()))

    def write_history(self, reason: str, *, step: int) -> WrittenHistory | None:
        """Copy the allocator's record into the recording, with its row; None without a device. May raise OSError."""
        from tenure.capture.writing.history_writing import describe_row, write_history

        writer = self._open()[0]
        written = write_history(writer.folder, reason, step=step)
        if written is not None:
            writer.append({"kind": HISTORY, **describe_row(written, reason=reason, step=step)}, flush=True)
        return written

    def write_parameters(self, found: ParameterHash, *, step: int, optimizer: int) -> None:
        """Add what the parameters of an optimizer are after a step."""
        row = {"kind": PARAMETERS, "step": step, "digest": found.digest, "count": found.count, "norm": found.norm}
        self._open()[0].append({**row, "optimizer": optimizer})

    def write_note(self, level: str, text: str, *, step: int) -> None:
        """Add a note; it may be all that is ever recorded."""
        self._open()[0].append({"kind": NOTE, "level": level, "text": text, "step": step}, flush=True)

    def copy_last_sources(self) -> None:
        """Copy what was loaded since the last census, and the library files that censuses refer to."""
        if self._sources is not None:
            self._sources.add_program()
            self._sources.add_libraries()

    def complete_until_now(self) -> Path | None:
        """Write what waits, sources included, and give back the folder; None where nothing is recorded."""
        if self._writer is None or not self._writer.is_open:
            return None
        self.copy_last_sources()
        self._writer.flush()
        if self._staging is None:
            return self._writer.folder
        with suppress(OSError):
            self._staging.copy()
        return self._staging.target

    def write_end(self, row: Mapping[str, object]) -> None:
        """Add the closing row."""
        if self._writer is not None:
            self._writer.append({"kind": END, **row})

    def close(self) -> None:
        """Write what waits; later rows are ignored."""
        if self._writer is not None:
            self._writer.close()
        if self._staging is not None:
            staging, self._staging = self._staging, None
            finish_staging(staging)

    def abandon(self) -> None:
        """Write nothing more, not even what waits: it is the parent process's."""
        self._staging = None
        if self._writer is not None:
            self._writer.abandon()

    def _new_class_files(self, type_names: Iterable[str]) -> list[str]:
        """Files of those classes that no census before named."""
        from tenure.capture.heap.class_files import class_files

        new = [name for name in type_names if name not in self._types]
        self._types.update(new)
        return class_files(new)

    def _open(self) -> tuple[RecordingWriter, SourceCopies]:
        if self._writer is None or self._sources is None:
            folder = self._claim_folder()
            process = describe_process() | {"time_origin": self._time_origin, "tenure": __version__}
            self._staging = stage(folder)
            folder = folder if self._staging is None else self._staging.local
            self._writer = RecordingWriter(folder, process=process)
            self._sources = SourceCopies(folder, self._writer.append)
            if self._staging is not None:
                with suppress(OSError):
                    self._staging.begin()
        return self._writer, self._sources


def _by_role(census: Census, values: list[int]) -> dict[str, int]:
    from tenure.model.heap import Role

    sums: dict[str, int] = {}
    for role, value in zip(census.storages.role.tolist(), values, strict=True):
        name = Role(role).name.lower()
        sums[name] = sums.get(name, 0) + value
    return sums
