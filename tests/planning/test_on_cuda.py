from __future__ import annotations

from profiles import MIB, profile
from streams import stream
from tenure.model.profile import Phase
from tenure.model.stream import Owner
from tenure.planning.on_cuda import bytes_on_cuda, num_multiplying_threads, unknown_on_cuda

DROPOUT = ("aten.empty_like.default", "aten.bernoulli_.float", "aten.div_.Scalar", "aten.mul.Tensor")


def test_a_mask_of_dropout_has_a_byte_per_element_there() -> None:
    mask_and_product = profile((1, 8, 0, 3, -1), (2, 8, 3, 3, -1), operations=5, second=5)

    sizes, told = bytes_on_cuda(stream(mask_and_product, operations=(*DROPOUT, "aten.relu.default")))

    assert sizes.tolist() == [2 * MIB, 8 * MIB]
    assert told == ["masks of dropout are counted with a byte per element, as CUDA makes them"]


def test_noise_that_is_no_mask_of_dropout_stays_as_it_is() -> None:
    noise = profile((1, 8, 0, 3, -1), operations=4, second=4)

    assert bytes_on_cuda(stream(noise, operations=(*DROPOUT[:2], "aten.relu.default", DROPOUT[3])))[1] == []


def test_of_a_data_set_whose_batches_are_views_a_batch_is_counted() -> None:
    made = profile((1, 100, -1, 3, -1), (2, 8, -1, 3, -1), operations=5, second=5)

    sizes, told = bytes_on_cuda(stream(made, (Owner.NONE, Owner.PARAMETER), met_bytes=(4 * MIB, 4 * MIB)))

    assert sizes.tolist() == [4 * MIB, 8 * MIB]
    assert told == [
        "100.00 MiB from before the steps met the model in parts of 4.00 MiB, and so much is counted, as a copy of a "
        "batch would take; were they on the device it would be 96.00 MiB more"
    ]


def test_parameters_that_no_operation_used_are_counted_and_told() -> None:
    made = profile((1, 8, -1, -1, -1), (2, 8, -1, 3, -1), operations=5, second=5)

    sizes, told = bytes_on_cuda(stream(made, (Owner.PARAMETER, Owner.PARAMETER)))

    assert sizes.tolist() == [8 * MIB, 8 * MIB]
    assert told == ["8.00 MiB of parameters were used by no operation of the two steps, and are counted"]


def test_attention_and_convolutions_are_said_to_be_otherwise() -> None:
    found = stream(profile(operations=3, second=3), operations=(
        "aten.convolution.default", "aten._scaled_dot_product_flash_attention_for_cpu.default", "aten.mm.default",
    ))  # fmt: skip
    on_host = profile((1, 8, -1, 2, -1), operations=3, second=3)

    assert unknown_on_cuda(found) == []  # no storage tells of a host
    names = [found.profile.text(position) for position in found.profile.operations.name.tolist()]
    told = unknown_on_cuda(stream(on_host, operations=names))
    assert [each.partition(" ")[0] for each in told] == ["attention", "convolutions"]


def test_a_thread_multiplies_forward_and_another_backward() -> None:
    names = ("aten.addmm.default", "aten.relu.default", "aten.mm.default")
    trained = profile(operations=3, second=3, phases=(Phase.FORWARD, Phase.FORWARD, Phase.BACKWARD))
    called = profile(operations=3, second=3, phases=(Phase.FORWARD,) * 3)

    assert num_multiplying_threads(stream(trained, operations=names)) == 2
    assert num_multiplying_threads(stream(called, operations=names)) == 1
    assert num_multiplying_threads(stream(called, operations=("aten.relu.default",) * 3)) == 0
