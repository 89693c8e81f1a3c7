"""What a helper of this room did: bytes before and after, what survived, and who holds it."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.model.units import format_bytes, format_seconds

_LABEL = 12
_MOST_SHOWN = 5
_HOPS_IN_FULL = 10
_HOPS_AT_START, _HOPS_AT_END = 4, 3


@dataclass(frozen=True)
class DeviceBytes:
    """One device before and after: bytes of tensors, by the allocator's own count on CUDA, elsewhere of the storages
    that Python sees, each once.

    `expected_bytes` is what was to come back and `freed_bytes` what of it is gone, each storage asked by itself: what
    others allocate or free meanwhile is not in it. None where a helper had nothing to compare with. Reserved bytes
    are what the device's allocator keeps, its cache included; None where there is no such allocator.
    """

    device: str
    before_bytes: int
    after_bytes: int
    expected_bytes: int | None = None
    freed_bytes: int | None = None
    reserved_before_bytes: int | None = None
    reserved_after_bytes: int | None = None


class ByDevice:
    """What a helper says of each device, added up: every outcome has these."""

    devices: tuple[DeviceBytes, ...]

    @property
    def before_bytes(self) -> int:
        """Bytes before, over all devices that were looked at."""
        return sum(device.before_bytes for device in self.devices)

    @property
    def after_bytes(self) -> int:
        """Bytes after, over the same devices."""
        return sum(device.after_bytes for device in self.devices)


@dataclass(frozen=True)
class Survivor:
    """Memory that was to be freed and is still held; storages that are held in the same way are told together.

    `path` is the retention path, root first, `targets` what each of its references leads to. Dropping the references
    in `cut`, of all survivors together, would free it; an empty cut means that none could be named.
    """

    what: str
    device: str
    bytes: int
    num_storages: int
    path: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome(ByDevice):
    """What a helper did. `did` says it in short pieces ("dropped 12 gradients, 3.00 MiB"), `kept` what it left alone
    and why, `still_bound` which names still refer to what was released and is empty now.

    `seconds` is what the call itself took, verification included.
    """

    what: str
    devices: tuple[DeviceBytes, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    did: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    still_bound: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def expected_bytes(self) -> int:
        """What was to come back, over all devices."""
        return sum(device.expected_bytes or 0 for device in self.devices)

    @property
    def freed_bytes(self) -> int:
        """What of the expected bytes is gone, over all devices."""
        return sum(device.freed_bytes or 0 for device in self.devices)

    @property
    def complete(self) -> bool:
        """Whether all that was to come back did."""
        return not self.survivors and self.freed_bytes == self.expected_bytes

    def __str__(self) -> str:
        return "\n".join(describe_outcome(self))


def describe_outcome(outcome: Outcome) -> list[str]:
    """The outcome for a terminal: what came back first, then who holds the rest."""
    lines = [_headline(outcome)]
    lines += [_line(device.device, _device_text(device)) for device in outcome.devices]
    lines += [_line("did", text) for text in outcome.did]
    lines += [_line("kept", text) for text in outcome.kept]
    for survivor in outcome.survivors[:_MOST_SHOWN]:
        lines += describe_survivor(survivor)
    left_out = outcome.survivors[_MOST_SHOWN:]
    if left_out:
        rest = sum(survivor.bytes for survivor in left_out)
        lines.append(_line("survived", f"{format_bytes(rest)} more, held in {len(left_out)} other ways"))
    lines += [_line("still bound", text) for text in outcome.still_bound]
    lines += [_line("note", text) for text in outcome.notes]
    return [*lines, _line("took", format_seconds(outcome.seconds))]


def _headline(outcome: Outcome) -> str:
    if all(device.expected_bytes is None for device in outcome.devices):
        return outcome.what
    if not outcome.expected_bytes:
        return f"{outcome.what}: no memory of tensors was to come back"
    came = f"{format_bytes(outcome.freed_bytes)} of {format_bytes(outcome.expected_bytes)} came back"
    return f"{outcome.what}: {came}"


def _line(label: str, text: str) -> str:
    return f"  {label.ljust(_LABEL)}{text}"


def _device_text(device: DeviceBytes) -> str:
    text = f"{format_bytes(device.before_bytes)} -> {format_bytes(device.after_bytes)} in tensors"
    if device.reserved_before_bytes is not None and device.reserved_after_bytes is not None:
        reserved = f"{format_bytes(device.reserved_before_bytes)} -> {format_bytes(device.reserved_after_bytes)}"
        text += f", {reserved} reserved"
    if device.expected_bytes is not None and device.freed_bytes is not None:
        text += f"; {format_bytes(device.freed_bytes)} of {format_bytes(device.expected_bytes)} came back"
    return text


def describe_survivor(survivor: Survivor) -> list[str]:
    """One survivor for a terminal: how much, who holds it, what to drop."""
    number = f" in {survivor.num_storages} storages" if survivor.num_storages > 1 else ""
    lines = [_line("survived", f"{format_bytes(survivor.bytes)} on {survivor.device}{number}: {survivor.what}")]
    lines += draw_path(survivor)
    if survivor.cut:
        lines.append(_line("to free", "drop " + ", ".join(survivor.cut)))
    return lines


def draw_path(survivor: Survivor) -> list[str]:
    """The retention path, one reference a line, each one step further in; the middle of a long one is counted."""
    lines = []
    hops = list(zip(survivor.path, (*survivor.targets, *[""] * len(survivor.path)), strict=False))
    if len(hops) > _HOPS_IN_FULL:
        left_out = len(hops) - _HOPS_AT_START - _HOPS_AT_END
        hops = [*hops[:_HOPS_AT_START], (f"... {left_out} more references", ""), *hops[-_HOPS_AT_END:]]
    for depth, (text, target) in enumerate(hops):
        branch = f"{' ' * (4 * depth - 3)}└─ " if depth else ""
        leads_to = f"  {target}" if target and depth else ""
        lines.append(_line("held by" if not depth else "", f"{branch}{text.strip()}{leads_to}"))
    return lines
