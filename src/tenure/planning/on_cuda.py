"""What CUDA's kernels keep otherwise than the host's: sizes that are known to differ, and operations that are not."""

from __future__ import annotations

import numpy as np

from tenure.model.heap import Ints
from tenure.model.profile import Phase
from tenure.model.stream import StepStream

_DROPOUT = ("aten.empty_like.default", "aten.bernoulli_.float", "aten.div_.Scalar", "aten.mul.Tensor")
"""What `dropout` runs where no kernel of one piece is: the mask is of the input's type. On CUDA it is `native_dropout`,
whose mask has a byte per element (aten/src/ATen/native/Dropout.cpp)."""
_MULTIPLIES = frozenset(("mm", "addmm", "bmm", "baddbmm", "addmv", "addbmm", "_addmm_activation", "dot", "mv"))
_ITEM_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
_UNKNOWN = (
    (
        ("aten.mkldnn_rnn_layer", "aten.lstm", "aten.gru", "aten.rnn_tanh", "aten._thnn_fused"),
        "recurrent layers run in cuDNN there, which keeps a reserve of its own in place of what was recorded",
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


def bytes_on_cuda(stream: StepStream) -> tuple[Ints, str]:
    """Bytes of each storage as CUDA's kernels would make it, and what was changed, "" where nothing was."""
    profile, storages = stream.profile, stream.profile.storages
    names = [profile.text(name) for name in profile.operations.name.tolist()]
    masks = {number for number in range(len(names) - 3) if tuple(names[number : number + 4]) == _DROPOUT}
    sizes, before = storages.bytes.copy(), 0
    for row, birth in enumerate(storages.birth.tolist()):
        item = _ITEM_BYTES.get(profile.text(int(storages.dtype[row])), 1)
        if birth in masks and profile.text(int(storages.device[row])) == "cpu":
            before += 1
            sizes[row] //= item
    return sizes, "masks of dropout are counted with a byte per element, as CUDA makes them" if before else ""


def unknown_on_cuda(stream: StepStream) -> list[str]:
    """What of the operations that were seen CUDA does otherwise, by how much is not known."""
    profile = stream.profile
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
