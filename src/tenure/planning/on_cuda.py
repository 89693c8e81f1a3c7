"""What CUDA's kernels keep otherwise than the host's: sizes that are known to differ, and operations that are not."""

from __future__ import annotations

import numpy as np

from tenure.model.heap import Ints
from tenure.model.profile import BEFORE, Phase
from tenure.model.stream import Owner, StepStream
from tenure.model.units import format_bytes

_DROPOUT = ("aten.empty_like.default", "aten.bernoulli_.float", "aten.div_.Scalar", "aten.mul.Tensor")
"""What `dropout` runs where no kernel of one piece is: the mask is of the input's type. On CUDA it is `native_dropout`,
whose mask has a byte per element (aten/src/ATen/native/Dropout.cpp)."""
_MULTIPLIES = frozenset(("mm", "addmm", "bmm", "baddbmm", "addmv", "addbmm", "_addmm_activation", "dot", "mv"))
_ITEM_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
_UNKNOWN = (
    (
        ("aten._safe_softmax",),
        "attention with dropout or some masks was computed as matrices here, with its scores kept; CUDA has kernels of "
        "one piece for it, which keep less",
    ),
    (
        ("aten._scaled_dot_product_flash_attention_for_cpu",),
        "attention takes another kernel there, chosen by type, mask and device; one without flash or memory-efficient "
        "attention keeps the matrix of scores besides",
    ),
    (
        ("aten.convolution", "aten.mkldnn_convolution"),
        "convolutions take scratch memory that cuDNN chooses",
    ),
    (
        ("aten._ctc_loss",),
        "the CTC loss keeps other matrices there",
    ),
)


def bytes_on_cuda(stream: StepStream) -> tuple[Ints, list[str]]:
    """Bytes of each storage as it would be on a CUDA device, and what was changed."""
    sizes, told = stream.profile.storages.bytes.copy(), []
    if _shrink_masks(stream, sizes):
        told.append("masks of dropout are counted with a byte per element, as CUDA makes them")
    before, after = _take_parts(stream, sizes)
    if before > after:
        whole, part, rest = map(format_bytes, (before, after, before - after))
        told.append(
            f"{whole} from before the steps met the model in parts of {part}, and so much is counted, as a copy of a "
            f"batch would take; were they on the device it would be {rest} more"
        )
    unused = _unused_parameters(stream)
    if unused:
        told.append(f"{format_bytes(unused)} of parameters were used by no operation of the two steps, and are counted")
    return sizes, told


def _shrink_masks(stream: StepStream, sizes: Ints) -> bool:
    profile, storages = stream.profile, stream.profile.storages
    names = [profile.text(name) for name in profile.operations.name.tolist()]
    masks = {number for number in range(len(names) - 3) if tuple(names[number : number + 4]) == _DROPOUT}
    found = False
    for row, birth in enumerate(storages.birth.tolist()):
        if birth in masks and profile.text(int(storages.device[row])) == "cpu":
            found = True
            sizes[row] //= _ITEM_BYTES.get(profile.text(int(storages.dtype[row])), 1)
    return found


def _take_parts(stream: StepStream, sizes: Ints) -> tuple[int, int]:
    """A data set of which batches are views is not what the model needs of it: bytes before and after."""
    storages, owners = stream.profile.storages, stream.owners
    is_part = (storages.birth == BEFORE) & (owners.owner == Owner.NONE) & (owners.on_device == 1)
    is_part &= (owners.met_bytes > 0) & (owners.met_bytes < sizes)
    before = int(sizes[is_part].sum())
    sizes[is_part] = owners.met_bytes[is_part]
    return before, int(sizes[is_part].sum())


def _unused_parameters(stream: StepStream) -> int:
    is_unused = (stream.owners.owner == Owner.PARAMETER) & (stream.profile.storages.last_use == BEFORE)
    return int(stream.profile.storages.bytes[is_unused].sum())


def unknown_on_cuda(stream: StepStream) -> list[str]:
    """What of the operations that were seen CUDA does otherwise, by how much is not known."""
    profile = stream.profile
    if profile.main_device() != "cpu":
        return []
    seen = {profile.text(position) for position in np.unique(profile.operations.name).tolist()}
    return [told for names, told in _UNKNOWN if any(name.startswith(names) for name in seen)]


def num_multiplying_threads(stream: StepStream) -> int:
    """How many threads would multiply matrices on a device: that of the program, and that of autograd for backward."""
    profile = stream.profile
    in_backward = {
        phase == Phase.BACKWARD
        for name, phase in zip(profile.operations.name.tolist(), profile.operations.phase.tolist(), strict=True)
        if profile.text(name).partition(".")[2].partition(".")[0] in _MULTIPLIES
    }
    return len(in_backward)
