"""An option switched on from outside gives the stream that the same change in the program's source gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tenure.cli.plan import place_of_first, watch_run
from tenure.fixing.runs import Order, Runner
from tenure.model.plan import Part
from tenure.model.stream import Owner, StepStream
from tenure.model.trial import Blocks, Survey
from tenure.planning.predict import predict
from tenure.planning.signs import sign_of
from tenure.store.survey_file import read_survey

pytestmark = pytest.mark.slow

TRAIN = """
import functools
import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(100, 64)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(64, 2, 128, dropout=0.1, batch_first=True) for _ in range(4)
        )
        self.head = torch.nn.Linear(64, 100)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


model = Model()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    tokens = torch.randint(100, (8, 33))
    logits = model(tokens[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
MADE = "model = Model()\n"
FORWARD = """    logits = model(tokens[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
"""
STEP = """    optimizer.step()
    optimizer.zero_grad()
"""
BY_HAND = {
    "checkpointing": (
        (
            MADE,
            MADE + "for block in model.layers:\n"
            "    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)\n",
        ),
    ),
    "checkpointing:2": (
        (
            MADE,
            MADE + "for block in model.layers[:2]:\n"
            "    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)\n",
        ),
    ),
    "autocast-bf16": (
        (
            FORWARD,
            "    with torch.autocast('cpu', dtype=torch.bfloat16):\n"
            + "".join(f"    {line}\n" for line in FORWARD.splitlines()),
        ),
    ),
    "autocast-fp16": (
        (MADE, MADE + "scaler = torch.amp.GradScaler('cpu')\n"),
        (
            FORWARD + "    loss.backward()\n    optimizer.step()\n",
            "    with torch.autocast('cpu', dtype=torch.float16):\n"
            + "".join(f"    {line}\n" for line in FORWARD.splitlines())
            + "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n",
        ),
    ),
    "save-on-cpu": (
        (
            "    logits = model(tokens[:, :-1])\n",
            "    with torch.autograd.graph.save_on_cpu(pin_memory=True):\n        logits = model(tokens[:, :-1])\n",
        ),
    ),
    "no-foreach": (("AdamW(model.parameters())", "AdamW(model.parameters(), foreach=False)"),),
    "fused": (("AdamW(model.parameters())", "AdamW(model.parameters(), fused=True)"),),
    "accumulation": (
        ("range(10)", "range(20)"),
        (STEP, "    if step % 2:\n" + "".join(f"    {line}\n" for line in STEP.splitlines())),
    ),
}


def stream_of(
    program: str, folder: Path, tries: tuple[str, ...] | None = None, world_size: int | None = None
) -> tuple[StepStream, Survey | None]:
    folder.mkdir()
    (folder / "train.py").write_text(program)
    places = place_of_first(world_size)
    order = Order((sys.executable, "train.py"), folder, folder / "scratch", in_place=True, environment=places)
    run, stream = watch_run(Runner(order), "train.py", 2, tries=tries, world_size=world_size)
    return stream, read_survey(run.recording)


def needs(stream: StepStream) -> tuple[object, ...]:
    plan = predict(stream)
    return plan.peak_active_bytes, plan.peak_reserved_bytes, plan.saved_bytes, plan.by_use, plan.peaks


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> tuple[StepStream, Survey | None]:
    return stream_of(TRAIN, tmp_path_factory.mktemp("program") / "plain", ())


@pytest.mark.parametrize("option", BY_HAND)
def test_an_option_gives_what_the_same_change_in_the_source_gives_to_the_byte(
    option: str, surveyed: tuple[StepStream, Survey | None], tmp_path: Path
) -> None:
    program = TRAIN
    for before, after in BY_HAND[option]:
        assert before in program
        program = program.replace(before, after)

    as_it_is, _ = surveyed
    by_hand, _ = stream_of(program, tmp_path / "hand")
    tried, _ = stream_of(TRAIN, tmp_path / "tried", (option,))

    assert needs(tried) == needs(by_hand) != needs(as_it_is)
    assert int(tried.flops.sum()) == int(by_hand.flops.sum())
    assert sign_of(option, as_it_is, tried) == sign_of(option, as_it_is, by_hand)
    assert sign_of(option, as_it_is, tried) is not None
    assert sign_of(option, as_it_is, as_it_is) is None


@pytest.mark.parametrize(
    ("option", "wrapped"),
    [
        (
            "fully-shard-2",
            "from torch.distributed.fsdp import fully_shard\n"
            "for block in model.layers:\n    fully_shard(block)\nfully_shard(model)\n",
        ),
        ("distributed-2", "model = torch.nn.parallel.DistributedDataParallel(model)\n"),
    ],
)
def test_the_first_of_two_ranks_is_that_of_a_program_that_wraps_its_model_and_is_planned_as_one_rank(
    option: str, wrapped: str, surveyed: tuple[StepStream, Survey | None], tmp_path: Path
) -> None:
    made = "torch.distributed.init_process_group('gloo')\n" + MADE + wrapped

    as_it_is, _ = surveyed
    by_hand, survey = stream_of(TRAIN.replace(MADE, made), tmp_path / "hand", (), world_size=2)
    tried, _ = stream_of(TRAIN, tmp_path / "tried", (option,))

    assert needs(tried) == needs(by_hand) != needs(as_it_is)
    assert int(tried.flops.sum()) == int(by_hand.flops.sum()) == int(as_it_is.flops.sum())
    assert sign_of(option, as_it_is, tried) == sign_of(option, as_it_is, by_hand) is not None
    assert survey is not None
    assert survey.refused[option].startswith("the program makes process groups itself: ")
    on_several = survey.refused.get("data-parallel-2")
    assert on_several == ("the program has its models on several devices already" if "DataParallel" in made else None)


def test_the_first_of_two_devices_computes_half_of_the_batch_and_holds_gradients_twice(
    surveyed: tuple[StepStream, Survey | None], tmp_path: Path
) -> None:
    as_it_is, _ = surveyed
    tried, _ = stream_of(TRAIN, tmp_path / "tried", ("data-parallel-2",))
    weights = sum(tried.profile.storages.bytes[tried.owners.owner == Owner.PARAMETER].tolist())

    before, after = predict(as_it_is), predict(tried)
    assert int(tried.flops.sum()) * 2 == int(as_it_is.flops.sum())
    assert after.by_use != before.by_use
    assert after.peaks[Part.BACKWARD] > before.peaks[Part.BETWEEN] + 3 * weights
    assert sign_of("data-parallel-2", as_it_is, tried) is not None
    assert sign_of("data-parallel-2", as_it_is, as_it_is) is None


def test_activations_in_place_are_those_of_a_program_that_says_so(tmp_path: Path) -> None:
    program = """
import torch
from torch import nn

model = nn.Sequential(
    nn.Conv2d(3, 16, 3), nn.LeakyReLU(), nn.Dropout(0.1), nn.Conv2d(16, 16, 3), nn.ReLU(),
    nn.Flatten(), nn.LazyLinear(4),
)
model(torch.randn(1, 3, 16, 16))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    model(torch.randn(16, 3, 16, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    by_hand = program.replace("LU()", "LU(inplace=True)")

    as_it_is, survey = stream_of(program, tmp_path / "plain", ())
    own, other = stream_of(by_hand, tmp_path / "hand", ())
    tried, _ = stream_of(program, tmp_path / "tried", ("in-place",))

    assert needs(tried) == needs(own) != needs(as_it_is)
    assert sign_of("in-place", as_it_is, tried) == "4 operations of forward wrote into their input"
    assert sign_of("in-place", as_it_is, own) == sign_of("in-place", as_it_is, tried)
    assert survey is not None
    assert other is not None
    assert "in-place" not in survey.refused
    assert other.refused["in-place"] == "no layer has an `inplace` that is off"


def test_set_to_none_gives_what_a_program_that_does_so_gives(
    surveyed: tuple[StepStream, Survey | None], tmp_path: Path
) -> None:
    keeps, _ = stream_of(TRAIN.replace("zero_grad()", "zero_grad(set_to_none=False)"), tmp_path / "keeps")
    drops, _ = surveyed
    tried, _ = stream_of(
        TRAIN.replace("zero_grad()", "zero_grad(set_to_none=False)"), tmp_path / "tried", ("set-to-none",)
    )

    assert needs(tried) == needs(drops) != needs(keeps)
    assert sign_of("set-to-none", keeps, tried) is not None


def test_the_survey_names_repeated_blocks_and_optimizers(surveyed: tuple[StepStream, Survey | None]) -> None:
    assert surveyed[1] == Survey(
        (Blocks("layers", "TransformerEncoderLayer", 4),),
        ("AdamW",),
        {
            "8-bit-state": "torchao is not installed: not run",
            "in-place": "no layer has an `inplace` that is off",
        },
    )
