"""A stack's phase is told by torch's own frames in it, the innermost first; the program's names say nothing."""

from __future__ import annotations

import pytest

from allocator.training import BACKWARD, MAIN, MODEL, OPTIMIZER, TORCH, ZERO_GRAD
from tenure.allocator.torch_frames import (
    Phase,
    asks_for_workspace,
    caller_of,
    module_of,
    moves_module,
    phase_of_frames,
)
from tenure.model.allocator import Frame


def frames(*told: dict[str, object]) -> list[Frame]:
    return [Frame(str(each["name"]), str(each["filename"]), int(str(each["line"]))) for each in told]


def of(function: str, file: str, line: int = 7) -> dict[str, object]:
    return {"name": function, "filename": file, "line": line}


ENGINE = of("torch::autograd::Engine::evaluate_function(std::shared_ptr)", "??", 0)
OPERATOR = of("at::native::empty_cuda", "??", 0)
CALL = of("_call_impl", f"{TORCH}/nn/modules/module.py")
STEP = of("wrapper", f"{TORCH}/optim/optimizer.py")


@pytest.mark.parametrize(
    ("told", "phase"),
    [
        (MODEL, Phase.FORWARD),
        (BACKWARD, Phase.BACKWARD),
        (OPTIMIZER, Phase.OPTIMIZER),
        (ZERO_GRAD, Phase.ZERO_GRAD),
        ([MAIN], None),
        (
            [of("forward", "/home/me/model.py"), of("backward", "/home/me/model.py"), of("step", "/home/me/sgd.py")],
            None,
        ),
        ([of("forward", "C:\\env\\torch\\nn\\modules\\module.py"), MAIN], None),
        ([of("_call_impl", "C:\\env\\torch\\nn\\modules\\module.py"), MAIN], Phase.FORWARD),
        ([OPERATOR, ENGINE], Phase.BACKWARD),
        ([of("hook", "/home/me/train.py"), ENGINE], Phase.BACKWARD),
        ([CALL, of("recompute_fn", f"{TORCH}/utils/checkpoint.py"), ENGINE], Phase.BACKWARD),
        ([CALL, of("apply", f"{TORCH}/autograd/function.py")], Phase.BACKWARD),
        ([CALL, of("closure", "/home/me/train.py"), STEP, MAIN], Phase.FORWARD),
        ([*BACKWARD[:1], of("closure", "/home/me/train.py"), STEP, MAIN], Phase.BACKWARD),
        ([STEP, of("hook", "/home/me/train.py"), ENGINE], Phase.OPTIMIZER),
        ([of("step", "/home/me/my_adam.py"), STEP, MAIN], Phase.OPTIMIZER),
        ([of("_unscale_grads_", f"{TORCH}/amp/grad_scaler.py"), MAIN], Phase.OPTIMIZER),
        ([of("_apply", f"{TORCH}/nn/modules/module.py"), of("to", f"{TORCH}/nn/modules/module.py"), MAIN], None),
    ],
)
def test_the_innermost_of_torchs_doors_tells_the_phase(told: list[dict[str, object]], phase: Phase | None) -> None:
    assert phase_of_frames(frames(*told)) is phase


def test_the_line_that_called_torch_is_found_outside_of_its_doors() -> None:
    assert caller_of(frames(*OPTIMIZER)) == Frame("main", "/home/me/train.py", 30)
    assert caller_of(frames(MAIN)) is None


def test_moved_modules_and_workspaces_are_known_by_torchs_own_functions() -> None:
    moved = frames(of("convert", "/x/torch/nn/modules/module.py"), of("_apply", "/x/torch/nn/modules/module.py"), MAIN)
    workspace = frames(of("at::cuda::getNewWorkspace()", "??", 0), CALL, MAIN)

    assert (moves_module(moved), moves_module(workspace)) == (True, False)
    assert (asks_for_workspace(moved), asks_for_workspace(workspace)) == (False, True)


def test_the_module_is_the_innermost_that_is_not_torchs() -> None:
    call = Frame("_call_impl", "/env/site-packages/torch/nn/modules/module.py", 1790)
    linear = Frame("forward", "/env/site-packages/torch/nn/modules/linear.py", 134)
    block, model, main = (Frame("forward", "/me/model.py", line) for line in (30, 60, 0))
    helper = Frame("attend", "/me/ops.py", 5)

    assert module_of([helper, block, call, model, call, main]) == block
    assert module_of([linear, call, block, call, model, call, main]) == block
    assert module_of([linear, call, main]) == linear
    assert module_of([helper, model]) is None
