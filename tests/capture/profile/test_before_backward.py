from __future__ import annotations

import torch

from tenure.capture.profile.before_backward import BeforeBackward


def test_each_backward_pass_is_told_before_it_begins_until_it_is_removed() -> None:
    found = torch.autograd._engine_run_backward
    seen: list[object] = []
    x = torch.ones(2, requires_grad=True)
    before = BeforeBackward(lambda: seen.append(x.grad))
    before.install()
    (x * 2).sum().backward()
    torch.autograd.grad((x * 2).sum(), x)
    before.remove()
    (x * 2).sum().backward()

    assert len(seen) == 2
    assert seen[0] is None
    assert torch.autograd._engine_run_backward is found


def test_what_somebody_else_has_put_there_since_stays() -> None:
    found = torch.autograd._engine_run_backward
    before = BeforeBackward(lambda: None)
    before.install()

    def others(*args: object, **kwargs: object) -> object:
        return found(*args, **kwargs)

    torch.autograd._engine_run_backward = others
    try:
        before.remove()
        assert torch.autograd._engine_run_backward is others
    finally:
        torch.autograd._engine_run_backward = found
