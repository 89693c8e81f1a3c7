"""Modules unloaded for good: what comes back, what is left alone, and who is named."""

from __future__ import annotations

import functools
import gc
import re
import weakref
from collections import OrderedDict

import pytest
import torch
from torch import nn

import tenure
from release.models import ENCODER_BYTES, TRAINED_BYTES, Cache, Encoder, Pipeline, tokens, train_step
from tenure.release.outcome import Outcome

LISTS_ALL_OBJECTS = True

pytestmark = pytest.mark.slow  # censuses of this whole process


def names(outcome: Outcome) -> list[str]:
    return [re.sub(r" \(.*?\)", "", text) for text in outcome.still_bound]


def cuts(outcome: Outcome) -> set[str]:
    return {re.sub(r" in \w+ \([\w.:]+\)", "", text) for survivor in outcome.survivors for text in survivor.cut}


def test_all_memory_of_a_module_comes_back_though_four_names_have_it() -> None:
    encoder = Encoder()
    cache, pipeline, blocks = Cache(encoder), Pipeline(text=encoder), list(encoder.blocks)

    outcome = tenure.release(encoder)

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES)
    assert {name.partition(",")[0] for name in names(outcome)} == {
        "`blocks[0]`",
        "`blocks[1]`",
        "`cache.encoder`",
        "`pipeline.text`",
        "`pipeline.components['text']`",
        "local variable `encoder` in test_all_memory_of_a_module_comes_back_though_four_names_have_it",
    }
    assert (cache.encoder, pipeline.components, len(blocks)) == (encoder, {"text": encoder}, 2)


def test_what_holds_a_module_lets_go_of_it_when_it_is_passed_too() -> None:
    encoder, other = Encoder(), nn.Linear(4, 4)
    pipeline, cache = Pipeline(text=encoder, other=other), Cache(encoder)
    blocks = [*encoder.blocks, other]
    callbacks = {"encode": encoder.forward, "half": functools.partial(encoder, tokens()), "other": other.forward}

    outcome = tenure.release(encoder, pipeline, cache, blocks, callbacks)

    assert outcome.complete
    assert (vars(pipeline), cache.encoder) == ({"components": {"other": other}, "text": None, "other": other}, None)
    assert (blocks, list(callbacks)) == ([other], ["other"])
    assert torch.equal(other(torch.ones(1, 4)), other(torch.ones(1, 4)))
    assert [name for name in names(outcome) if "encoder" not in name] == []


def test_a_checkpoint_and_views_that_are_passed_too_let_go_of_the_memory_that_they_share() -> None:
    encoder, own = Encoder(), torch.ones(3)
    checkpoint = {"model": encoder.state_dict(), "step": 3, "own": own}
    rows = [encoder.embedding.weight[:2].detach(), own]
    holder = type("Holder", (), {})()
    holder.scale, holder.own = encoder.scale.view(4, 8), own

    outcome = tenure.release(encoder, checkpoint, rows, holder)

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES)
    assert checkpoint == {"model": {}, "step": 3, "own": own}
    assert (rows, vars(holder)) == ([own], {"scale": None, "own": own})


def test_results_that_a_passed_cache_keeps_stay_and_lose_the_graphs_that_lead_to_the_module() -> None:
    encoder, other = Encoder(), nn.Linear(32, 4)
    embedding = encoder(tokens())
    cache = {"prompt": embedding, "head": other(torch.ones(32))}
    holder = type("Holder", (), {})()
    holder.loss, expected = embedding.sum(), embedding.detach().clone()
    del embedding

    outcome = tenure.release(encoder, cache, holder)

    assert outcome.complete
    assert torch.equal(cache["prompt"], expected)
    assert (cache["prompt"].grad_fn, holder.loss.grad_fn) == (None, None)
    assert cache["head"].grad_fn is not None
    assert "cut the graphs off 1 result in `the dict`" in outcome.did
    assert "cut the graph off `Holder.loss`" in outcome.did


def test_an_owner_keeps_objects_that_have_duties_of_their_own() -> None:
    class Trainer:
        def __init__(self, encoder: nn.Module) -> None:
            self.encoder, self.cache, self.pair = encoder, Cache(encoder), (encoder, nn.Linear(4, 4))
            self.named = [("encoder", encoder), ("other", self.pair[1])]

    trainer = Trainer(Encoder())
    cache, pair = trainer.cache, trainer.pair

    outcome = tenure.release(trainer.encoder, trainer)

    assert (outcome.complete, trainer.encoder) == (True, None)
    assert (trainer.cache, trainer.pair, trainer.named) == (cache, pair, [("other", pair[1])])


def test_an_ordered_dict_that_lost_an_entry_goes_on_working() -> None:
    models = OrderedDict(text=Encoder(), other=nn.Linear(4, 4))

    outcome = tenure.release(models["text"], models)
    models["third"] = None

    assert (outcome.complete, list(models), list(models.items())[-1]) == (True, ["other", "third"], ("third", None))


def test_gradients_hooks_and_results_kept_from_the_last_call_go() -> None:
    encoder, calls = Encoder(), []
    handle = encoder.register_forward_hook(lambda *args: calls.append(1))
    encoder(tokens()).sum().backward()
    kept = weakref.ref(encoder.last)

    outcome = tenure.release(encoder)

    assert outcome.complete
    assert outcome.freed_bytes == ENCODER_BYTES + TRAINED_BYTES + 4 * 3 * 32 * 4
    assert (kept(), calls, len(encoder._forward_hooks)) == (None, [1], 0)
    handle.remove()


def test_an_optimizer_that_is_passed_forgets_the_parameters_and_keeps_the_others() -> None:
    encoder, head = Encoder(), nn.Linear(32, 2)
    optimizer = torch.optim.AdamW([{"params": encoder.parameters()}, {"params": head.parameters(), "lr": 1.0}])
    head(encoder(tokens())).sum().backward()
    optimizer.step()
    step_bytes = 5 * 4

    outcome = tenure.release(encoder, optimizer)

    assert outcome.complete
    assert outcome.freed_bytes == ENCODER_BYTES + 3 * TRAINED_BYTES + step_bytes + 4 * 3 * 32 * 4
    assert [group["params"] for group in optimizer.param_groups] == [[], list(head.parameters())]
    assert set(optimizer.state) == set(head.parameters())
    optimizer.step()


def test_an_optimizer_that_is_not_passed_is_named_and_nothing_is_changed() -> None:
    encoder = Encoder()
    optimizer = torch.optim.SGD(encoder.parameters(), momentum=0.9)
    train_step(encoder, optimizer)
    weights = {key: value.clone() for key, value in encoder.state_dict().items()}

    with pytest.raises(tenure.ReleaseError, match=r"SGD \(local variable `optimizer` in .*\) trains 5 of its param"):
        tenure.release(encoder)

    assert all(torch.equal(value, weights[key]) for key, value in encoder.state_dict().items())
    assert (encoder.last is not None, encoder.embedding.weight.grad is not None) == (True, True)
    train_step(encoder, optimizer)


def test_an_optimizer_that_waits_for_the_collector_stands_against_nothing() -> None:
    encoder = Encoder()
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    optimizer.ring = optimizer
    del optimizer

    assert tenure.release(encoder).complete


def test_force_takes_the_parameters_from_an_optimizer_that_was_not_passed() -> None:
    encoder = Encoder()
    optimizer = torch.optim.SGD(encoder.parameters(), momentum=0.9)
    train_step(encoder, optimizer)

    outcome = tenure.release(encoder, force=True)

    assert (outcome.complete, optimizer.param_groups[0]["params"], dict(optimizer.state)) == (True, [], {})


def test_an_optimizer_alone_gives_its_state_back() -> None:
    encoder = Encoder()
    optimizer = torch.optim.AdamW(encoder.parameters())
    train_step(encoder, optimizer)

    outcome = tenure.release(optimizer)

    assert (outcome.complete, outcome.freed_bytes) == (True, 2 * TRAINED_BYTES + 5 * 4)
    assert (optimizer.param_groups[0]["params"], encoder.scale.sum().item()) == ([], 32.0)


def test_tied_weights_that_another_module_needs_are_left_alone() -> None:
    encoder, decoder = Encoder(), nn.Module()
    decoder.head = nn.Linear(32, 100, bias=False)
    decoder.head.weight = encoder.embedding.weight

    outcome = tenure.release(encoder)

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES - 100 * 32 * 4)
    assert outcome.kept == (
        "`Encoder.embedding.weight`, 12.50 KiB: `Module.head.weight` is the same memory "
        "(force=True takes it from both)",
    )
    assert decoder.head(torch.ones(32)).shape == (100,)


def test_force_takes_tied_weights_from_everyone() -> None:
    encoder, decoder = Encoder(), nn.Linear(32, 100, bias=False)
    decoder.weight = encoder.embedding.weight

    outcome = tenure.release(encoder, force=True)

    assert (outcome.complete, outcome.freed_bytes, outcome.kept) == (True, ENCODER_BYTES, ())
    assert decoder.weight.numel() == 0


def test_a_weight_that_is_a_view_of_a_shared_storage_counts_as_tied() -> None:
    encoder = Encoder()
    other = nn.Module()
    other.register_buffer("window", encoder.embedding.weight.detach()[:10])

    outcome = tenure.release(encoder)

    assert (outcome.complete, len(outcome.kept)) == (True, 1)
    assert torch.equal(other.window, encoder.embedding.weight[:10])


def test_a_submodule_that_another_module_has_too_is_left_alone() -> None:
    encoder, decoder = Encoder(), nn.Module()
    decoder.embedding = encoder.embedding

    outcome = tenure.release(encoder)

    assert (outcome.complete, outcome.kept) == (True, ("`Encoder.embedding`: it is `Module.embedding` too",))
    assert decoder.embedding(torch.tensor([1])).shape == (1, 32)


def test_a_parent_that_has_the_released_module_does_not_keep_it() -> None:
    parent = nn.Module()
    parent.text, parent.head = Encoder(), nn.Linear(32, 2)

    outcome = tenure.release(parent.text)

    assert (outcome.complete, outcome.kept, outcome.freed_bytes) == (True, (), ENCODER_BYTES)
    assert parent.head(torch.ones(32)).shape == (2,)


def test_tied_weights_within_the_released_are_no_obstacle() -> None:
    model = nn.Module()
    model.embedding, model.head = nn.Embedding(100, 32), nn.Linear(32, 100, bias=False)
    model.head.weight = model.embedding.weight

    outcome = tenure.release(model)

    assert (outcome.complete, outcome.freed_bytes, outcome.kept) == (True, 100 * 32 * 4, ())
    assert model.head.weight is model.embedding.weight


def test_memory_that_others_hold_survives_with_path_and_cut() -> None:
    encoder = Encoder()
    state = encoder.state_dict()

    outcome = tenure.release(encoder)

    assert (outcome.complete, outcome.freed_bytes) == (False, 0)
    (survivor,) = outcome.survivors
    assert (survivor.bytes, survivor.num_storages, cuts(outcome)) == (ENCODER_BYTES, 6, {"`state`"})
    assert survivor.path[0].startswith("local variable `state` in test_memory_that_others_hold_survives")
    assert state["scale"].sum().item() == 32.0


def test_a_list_of_parameters_keeps_them_unless_it_is_passed_too() -> None:
    encoder = Encoder()
    trainable = list(encoder.parameters())

    first = tenure.release(encoder)

    assert (first.freed_bytes, cuts(first)) == (32 * 4, {"`trainable`"})

    encoder = Encoder()
    trainable = list(encoder.parameters())
    assert (tenure.release(encoder, trainable).complete, trainable) == (True, [])


def graph_through(encoder: Encoder) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.ones(32, requires_grad=True)
    hidden = encoder.blocks[1](encoder.blocks[0](inputs)) + encoder.embedding(torch.tensor(1))
    return inputs, hidden.square().sum()


def test_of_a_graph_only_what_it_saved_survives_and_its_backward_goes_on() -> None:
    torch.manual_seed(0)
    encoder = Encoder()
    expected, loss = graph_through(encoder)
    loss.backward()
    encoder.zero_grad()
    inputs, loss = graph_through(encoder)

    outcome = tenure.release(encoder)

    (survivor,) = outcome.survivors
    assert (survivor.bytes, survivor.num_storages) == (2 * 32 * 32 * 4, 2)
    assert (outcome.freed_bytes, cuts(outcome)) == (
        ENCODER_BYTES - survivor.bytes,
        {"`loss` or keep `loss.detach()` alone"},
    )
    assert ".grad_fn" in survivor.path
    loss.backward()
    assert torch.equal(inputs.grad, expected.grad)
    del loss
    gc.collect()


def test_a_weight_that_a_graph_and_a_name_have_is_not_emptied() -> None:
    encoder = Encoder()
    bias = encoder.blocks[0].bias
    inputs, loss = graph_through(encoder)

    outcome = tenure.release(encoder)

    assert "`bias`" in cuts(outcome)
    assert torch.equal(bias, bias.detach().clone())
    assert (bias.shape, bias.untyped_storage().nbytes()) == ((32,), 32 * 4)
    loss.backward()
    assert inputs.grad is not None


def test_averaged_copies_go_with_the_module() -> None:
    class Average:
        def __init__(self, module: nn.Module) -> None:
            self.shadow_params = [item.detach().clone() for item in module.parameters()]
            self.by_name = {name: item.detach().clone() for name, item in module.named_parameters()}
            self.losses = [torch.ones(3)]

    encoder = Encoder()
    average = Average(encoder)

    outcome = tenure.release(encoder, average)

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES + 2 * TRAINED_BYTES)
    assert (average.shadow_params, average.by_name, len(average.losses)) == ([], {}, 1)


def test_a_pipeline_alone_is_unloaded_with_all_that_it_holds() -> None:
    pipeline = Pipeline(text=Encoder(), other=nn.Linear(4, 4))
    pipeline.cache = {"prompt": torch.ones(10)}
    pipeline.name = "draws"

    outcome = tenure.release(pipeline)

    assert (outcome.complete, outcome.freed_bytes) == (True, ENCODER_BYTES + 20 * 4 + 10 * 4)
    assert vars(pipeline) == {"components": {}, "text": None, "other": None, "cache": {}, "name": "draws"}


def test_a_list_of_modules_is_unloaded_and_emptied() -> None:
    models = [Encoder(), Encoder()]

    outcome = tenure.release(models)

    assert (outcome.complete, outcome.freed_bytes, models) == (True, 2 * ENCODER_BYTES, [])


def test_a_released_module_says_so_when_it_is_called_and_when_it_is_released_again() -> None:
    encoder = Encoder()
    tenure.release(encoder)

    with pytest.raises(tenure.ReleaseError, match=r"Encoder was released \(test_unload.py:\d+\) and has no weights"):
        encoder(tokens())
    again = tenure.release(encoder)

    assert (again.complete, again.expected_bytes, again.did) == (True, 0, ())
    assert [re.sub(r"\d+", "N", note) for note in again.notes] == ["Encoder was released already (test_unload.py:N)"]


def test_one_that_only_the_call_has_is_gone_with_it() -> None:
    outcome = tenure.release(Encoder())

    assert (outcome.complete, outcome.freed_bytes, outcome.still_bound) == (True, ENCODER_BYTES, ())


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (3, "release\\(\\) was given 3, of type int"),
        (None, "given None; it may have been released and unbound before"),
        (nn.Linear, "the class Linear; pass an instance"),
        ([], "a list of 0 holds no module and no tensor"),
        (["text"], "a list of 1 holds no module"),
        (object(), "object holds no module"),
    ],
)
def test_what_holds_no_memory_is_refused_by_name(item: object, text: str) -> None:
    with pytest.raises(tenure.ReleaseError, match=text):
        tenure.release(item)


def test_a_tensor_is_for_del() -> None:
    with pytest.raises(tenure.ReleaseError, match="a tensor; `del` frees it"):
        tenure.release(torch.ones(3))


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(tenure.ReleaseError, match="was given nothing"):
        tenure.release()


def test_one_wrong_object_among_others_keeps_all_as_it_is() -> None:
    encoder = Encoder()

    with pytest.raises(tenure.ReleaseError):
        tenure.release(encoder, 3)

    assert encoder(tokens()).shape == (4, 32)


@pytest.mark.parametrize("to", ["gpu", "cuda:99", 1.5])
def test_a_device_that_is_not_there_is_refused_before_anything_is_done(to: object) -> None:
    encoder = Encoder()

    with pytest.raises(tenure.ReleaseError, match=f"^'?{to}'? is no device"):
        tenure.release(encoder, to=to)

    assert encoder(tokens()).shape == (4, 32)


def test_the_room_itself_can_be_called() -> None:
    import tenure.release.outcome as inside

    assert (tenure.release(nn.Linear(4, 4)).freed_bytes, inside.Outcome) == (20 * 4, tenure.Outcome)
