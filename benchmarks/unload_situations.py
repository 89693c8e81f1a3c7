"""Ten situations in which a model is to be unloaded, and what five ways of unloading it give back.

    python benchmarks/unload_situations.py [--json FILE]

Each way runs in a fork of its own, from the same state, with the names that a person has at hand there. What came
back is told by torch's weak references to the storages that should go (the model's own, gradients, optimizer state
and copies; not what another module still needs), so it does not rest on Tenure's own count. Without a CUDA device the
CPU is the device to be freed, and where a recipe moves modules to the host, their tensors lose their memory in place,
as `.to("cpu")` has it on a device.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Names

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Encoder(nn.Module):
    """A text encoder with a parameter and a buffer of its own beside its children."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(64, 256))
        self.register_buffer("mask", torch.ones(256, 256).tril())
        self.embedding = nn.Embedding(1000, 256)
        self.blocks = nn.ModuleList(nn.Linear(256, 256) for _ in range(4))
        self.last = None

    def forward(self, tokens: torch.Tensor, keep: bool = False) -> torch.Tensor:
        hidden = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            hidden = block(hidden).relu()
        if keep:
            self.last = hidden
        return hidden.mean(dim=1)


def batch() -> torch.Tensor:
    return torch.arange(64, device=DEVICE).reshape(4, 16)


def several_names() -> Names:
    model = Encoder()
    return Names(model=model, text_encoder=model, blocks=list(model.blocks))


def pipeline_and_cache() -> Names:
    model = Encoder()
    return Names(model=model, pipe=Names(components={"text": model}, unet=nn.Linear(8, 8)), cache=Names(encoder=model))


def trained() -> Names:
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters())
    model(batch()).sum().backward()
    optimizer.step()
    return Names(model=model, optimizer=optimizer)


def loss_bound() -> Names:
    model = Encoder()
    loss = model(batch()).sum()
    return Names(model=model, loss=loss)


def result_kept() -> Names:
    model = Encoder()
    model(batch(), keep=True)
    return Names(model=model)


def ring_of_hooks() -> Names:
    model = Encoder()
    calls = []
    model.register_forward_hook(lambda module, args, output: calls.append(model))
    model(batch())
    return Names(model=model, calls=calls)


def offloaded() -> Names:
    from accelerate import cpu_offload

    model = Encoder()
    cpu_offload(model, execution_device=torch.device(DEVICE))
    return Names(model=model, text_encoder=model)


def averaged() -> Names:
    model = Encoder()
    ema = Names(shadow_params=[item.detach().clone() for item in model.parameters()], decay=0.999)
    return Names(model=model, ema=ema)


def tied() -> Names:
    model = Encoder()
    head = nn.Linear(256, 1000, bias=False)
    head.weight = model.embedding.weight
    return Names(model=model, decoder=head)


def checkpoint_kept() -> Names:
    model = Encoder()
    return Names(model=model, checkpoint=model.state_dict())


SITUATIONS: tuple[tuple[str, Callable[[], Names]], ...] = (
    ("two names and a list of blocks", several_names),
    ("a pipeline and an embedding cache", pipeline_and_cache),
    ("gradients and AdamW", trained),
    ("a loss with its graph", loss_bound),
    ("a result kept on the module", result_kept),
    ("a hook that has the module", ring_of_hooks),
    ("accelerate's offloading hooks", offloaded),
    ("an averaged copy (EMA)", averaged),
    ("a head with tied weights, in use", tied),
    ("a checkpoint dict, kept", checkpoint_kept),
)
PASSED_TOO = ("pipe", "cache", "optimizer", "ema", "blocks", "calls")
"""Names that a person passes to `tenure.release` beside the model."""


def storages_to_go(names: Names) -> list[tuple[StorageWeakRef, int]]:
    """What should be given back, and nothing that another module still needs."""
    model = names.model
    tensors = [*model.parameters(), *model.buffers()]
    tensors += [item.grad for item in model.parameters() if item.grad is not None]
    tensors += [model.last] if model.last is not None else []
    if hasattr(names, "optimizer"):
        tensors += [value for state in names.optimizer.state.values() for value in state.values()]
    if hasattr(names, "ema"):
        tensors += names.ema.shadow_params
    for module in model.modules():
        hook = getattr(module, "_hf_hook", None)
        weights = getattr(getattr(hook, "weights_map", None), "dataset", {})
        tensors += list(weights.values())
    needed = {names.decoder.weight.untyped_storage().data_ptr()} if hasattr(names, "decoder") else set()
    found = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        if tensor.device.type != "meta" and storage.data_ptr() not in needed:
            found[storage.data_ptr()] = (StorageWeakRef(storage), storage.nbytes())
    return list(found.values())


# -- the ways: each is given the names, and drops the one called `model` ----------------------------------------------


def del_and_collect(names: Names) -> str:
    del names.model
    gc.collect()
    empty_cache()
    return ""


def accelerate_release_memory(names: Names) -> str:
    from accelerate.utils import release_memory

    if hasattr(names, "optimizer"):
        names.model, names.optimizer = release_memory(names.model, names.optimizer)
    else:
        (names.model,) = release_memory(names.model)
    return ""


def freeze_and_move_children(names: Names) -> str:
    names.model.requires_grad_(False)
    for child in names.model.children():
        move_away(child)
    gc.collect()
    empty_cache()
    return ""


def move_away(module: nn.Module) -> None:
    """`module.to("cpu")`, and without a second device what that does to the first one's memory."""
    if DEVICE == "cuda":
        module.to("cpu")
    else:
        module._apply(lambda tensor: torch.empty(0))


def delete_the_parameters_name(names: Names) -> str:
    def free(model: nn.Module) -> None:
        model.zero_grad()
        del model
        empty_cache()
        gc.collect()

    free(names.model)
    return ""


def tenure_release(names: Names) -> str:
    import tenure

    outcome = tenure.release(names.model, *(vars(names)[name] for name in PASSED_TOO if hasattr(names, name)))
    survived = {re.sub(r" in \w+.*", "", text) for survivor in outcome.survivors for text in survivor.cut}
    told = [f"to free: drop {', '.join(sorted(survived))}"] if survived else []
    told += [text.partition(" (force")[0] for text in outcome.kept]
    return "; ".join(told)


WAYS = (
    ("del, collect, empty_cache", del_and_collect),
    ("accelerate release_memory", accelerate_release_memory),
    ("freeze, move each child", freeze_and_move_children),
    ("zero_grad, del in a function", delete_the_parameters_name),
    ("tenure.release", tenure_release),
)


def empty_cache() -> None:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def run(make: Callable[[], Names], way: Callable[[Names], str]) -> dict[str, object]:
    """What one way gives back in one situation."""
    torch.manual_seed(0)
    with torch.device(DEVICE):
        names = make()
    gc.collect()
    expected = storages_to_go(names)
    said = way(names)
    freed = sum(size for reference, size in expected if reference.expired())
    works = True
    if hasattr(names, "decoder"):
        try:
            works = names.decoder(torch.ones(256, device=DEVICE)).shape == (1000,)
        except RuntimeError:
            works = False
    return {"expected": sum(size for _, size in expected), "freed": freed, "said": said, "others_work": works}


def run_apart(make: Callable[[], Names], way: Callable[[Names], str]) -> dict[str, object]:
    """The same in a fork, which leaves nothing behind; in this process where CUDA allows no fork."""
    if DEVICE == "cuda":
        return run(make, way)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = json.dumps(run(make, way))
        except Exception as error:
            answer = json.dumps({"error": f"{type(error).__name__}: {error}"})
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def cell(found: dict[str, object]) -> str:
    if "error" in found:
        return str(found["error"])[:40]
    return f"{100 * found['freed'] / found['expected']:.0f} %" + ("" if found["others_work"] else ", breaks the head")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    print(f"on {DEVICE}: bytes that came back of those that should")
    print("| situation | MiB | " + " | ".join(name for name, _ in WAYS) + " | what tenure.release says of the rest |")
    print("| --- " * (len(WAYS) + 3) + "|")
    for title, make in SITUATIONS:
        found = {name: run_apart(make, way) for name, way in WAYS}
        results[title] = found
        size = next((each["expected"] for each in found.values() if "expected" in each), 0)
        cells = " | ".join(cell(each) for each in found.values())
        print(f"| {title} | {size / 2**20:.1f} | {cells} | {found['tenure.release'].get('said', '')} |")
        sys.stdout.flush()
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"device": DEVICE, **results}, indent=1))


if __name__ == "__main__":
    main()
