from __future__ import annotations

from profiles import MIB, profile
from streams import stream
from tenure.model.profile import Phase
from tenure.planning.on_cuda import bytes_on_cuda, num_multiplying_threads, unknown_on_cuda

DROPOUT = ("aten.empty_like.default", "aten.bernoulli_.float", "aten.div_.Scalar", "aten.mul.Tensor")


def test_a_mask_of_dropout_has_a_byte_per_element_there() -> None:
    mask_and_product = profile((1, 8, 0, 3, -1), (2, 8, 3, 3, -1), operations=5, second=5)

    sizes, told = bytes_on_cuda(stream(mask_and_product, operations=(*DROPOUT, "aten.relu.default")))

    assert sizes.tolist() == [2 * MIB, 8 * MIB]
    assert told == "masks of dropout are counted with a byte per element, as CUDA makes them"


def test_noise_that_is_no_mask_of_dropout_stays_as_it_is() -> None:
    noise = profile((1, 8, 0, 3, -1), operations=4, second=4)

    assert bytes_on_cuda(stream(noise, operations=(*DROPOUT[:2], "aten.relu.default", DROPOUT[3])))[1] == ""


def test_recurrent_layers_and_attention_are_said_to_be_otherwise() -> None:
    found = stream(profile(operations=3, second=3), operations=(
        "aten.mkldnn_rnn_layer.default", "aten._scaled_dot_product_flash_attention_for_cpu.default", "aten.mm.default",
    ))  # fmt: skip

    assert [told.partition(" ")[0] for told in unknown_on_cuda(found)] == ["recurrent", "attention"]


def test_a_thread_multiplies_forward_and_another_backward() -> None:
    names = ("aten.addmm.default", "aten.relu.default", "aten.mm.default")
    trained = profile(operations=3, second=3, phases=(Phase.FORWARD, Phase.FORWARD, Phase.BACKWARD))
    called = profile(operations=3, second=3, phases=(Phase.FORWARD,) * 3)

    assert num_multiplying_threads(stream(trained, operations=names)) == 2
    assert num_multiplying_threads(stream(called, operations=names)) == 1
    assert num_multiplying_threads(stream(called, operations=("aten.relu.default",) * 3)) == 0
