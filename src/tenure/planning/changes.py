"""The lines of a program that do what an option does from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenure.model.trial import (
    DATA_PARALLEL,
    DISTRIBUTED,
    EIGHT_BIT,
    MICRO_BATCHES,
    SHARDED_OVER,
    Blocks,
    Survey,
    num_checkpointed,
)

CHANGES_NUMBERS = frozenset(("autocast-bf16", "autocast-fp16", EIGHT_BIT))
"""Options under which a program computes other numbers than without; the others change rounding at most."""


def change_of(option: str, survey: Survey) -> tuple[str, ...]:
    """Lines of Python, with `model`, `loss` and `optimizer` as the program may call them otherwise."""
    number = num_checkpointed(option)
    return _CHANGES[option](survey) if number is None else _checkpointing(survey, number)


def _checkpointing(survey: Survey, number: int | None = None) -> tuple[str, ...]:
    partial = "functools.partial(checkpoint, block.forward, use_reentrant=False)"
    return (
        "import functools",
        "from torch.utils.checkpoint import checkpoint",
        f"for block in {_blocks(survey.blocks)}{'' if number is None else f'[:{number}]'}:",
        f"    block.forward = {partial}",
    )


def _blocks(groups: Sequence[Blocks]) -> str:
    places = [_place(each.container) for each in dict.fromkeys(groups)]
    return places[0] if len(places) == 1 else f"({', '.join(f'*{place}' for place in places)})"


def _place(name: str) -> str:
    if not name:
        return "model"
    is_plain = all(part.isidentifier() for part in name.split("."))
    return f"model.{name}" if is_plain else f'model.get_submodule("{name}")'


def _autocast(survey: Survey) -> tuple[str, ...]:
    return (
        'with torch.autocast("cuda", dtype=torch.bfloat16):',
        "    ...  # from the model's call to the loss; backward() stays outside",
    )


def _scaled_autocast(survey: Survey) -> tuple[str, ...]:
    return (
        'scaler = torch.amp.GradScaler("cuda")  # once',
        'with torch.autocast("cuda", dtype=torch.float16):',
        "    ...  # from the model's call to the loss",
        "scaler.scale(loss).backward()",
        "scaler.step(optimizer)  # in place of optimizer.step(); before clipping: scaler.unscale_(optimizer)",
        "scaler.update()",
    )


def _sharded(survey: Survey) -> tuple[str, ...]:
    blocks = (f"for block in {_blocks(survey.blocks)}:", "    fully_shard(block)") if survey.blocks else ()
    return (
        "from torch.distributed.fsdp import fully_shard",
        *blocks,
        "fully_shard(model)  # before the optimizer is made, under torchrun with as many ranks",
    )


def _distributed(survey: Survey) -> tuple[str, ...]:
    return (
        "model = torch.nn.parallel.DistributedDataParallel(model)",
        "# under torchrun with as many ranks, each with its part of the batch (DistributedSampler)",
    )


def _save_on_cpu(survey: Survey) -> tuple[str, ...]:
    return ("with torch.autograd.graph.save_on_cpu(pin_memory=True):", "    ...  # the model's call")


def _in_place(survey: Survey) -> tuple[str, ...]:
    return (
        "for layer in model.modules():",
        '    if getattr(layer, "inplace", None) is False and "Dropout" not in type(layer).__name__:',
        "        layer.inplace = True",
    )


def _accumulation(survey: Survey) -> tuple[str, ...]:
    return (
        f"(loss / {MICRO_BATCHES}).backward()  # of batches of 1/{MICRO_BATCHES} the size",
        f"if number % {MICRO_BATCHES} == {MICRO_BATCHES - 1}:",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    )


def _eight_bit(survey: Survey) -> tuple[str, ...]:
    classes = [f"{name}8bit" for name in survey.optimizers if name in ("Adam", "AdamW")]
    return f"from torchao.optim import {', '.join(classes)}", *(f"{each}(...)" for each in classes)


def _of_optimizers(keyword: str) -> Callable[[Survey], tuple[str, ...]]:
    return lambda survey: tuple(f"{name}(..., {keyword})" for name in survey.optimizers)


_CHANGES: dict[str, Callable[[Survey], tuple[str, ...]]] = {
    "no-foreach": _of_optimizers("foreach=False"),
    "fused": _of_optimizers("fused=True"),
    "set-to-none": lambda survey: ("optimizer.zero_grad(set_to_none=True)",),
    "in-place": _in_place,
    "accumulation": _accumulation,
    "checkpointing": _checkpointing,
    "save-on-cpu": _save_on_cpu,
    "autocast-bf16": _autocast,
    "autocast-fp16": _scaled_autocast,
    EIGHT_BIT: _eight_bit,
    **dict.fromkeys(SHARDED_OVER, _sharded),
    DISTRIBUTED: _distributed,
    DATA_PARALLEL: lambda survey: ("model = torch.nn.DataParallel(model)  # one process with two devices",),
}
OPTIONS = tuple(_CHANGES)
