"""Hooks of objects that are made again and again."""

from __future__ import annotations

import pytest

from told import rules

CAM = """
    import torch
    from torch import nn
    class Cam:
        def __init__(self, model, layer):
            self.model, self.seen = model, None
            {register}
        def on(self, module, args, output):
            self.seen = output.detach()
        {leave}
        def __call__(self, image):
            self.model(image)
            return self.seen.mean()
    def explain(model, images):
        for image in images:
            {fresh}
            cam = Cam(model, model.layer4)
            yield cam(image[None])
    def main(images):
        model = Net()
        for heat in explain(model, images):
            print(heat)
"""


@pytest.mark.parametrize(
    ("register", "leave", "fresh", "found"),
    [
        ("layer.register_forward_hook(self.on)", "", "", ["TN303"]),
        ("dict(self.model.named_modules())['0'].register_forward_hook(self.on)", "", "", ["TN303"]),
        ("self.handle = layer.register_forward_hook(self.on)", "def close(self): self.handle.remove()", "", []),
        ("layer.register_forward_hook(self.on)", "", "model = Net(image.shape)", []),
        ("self.own = nn.Linear(2, 2); self.own.register_forward_hook(self.on)", "", "", []),
    ],
)
def test_a_hook_stays_where_each_object_registers_on_the_same_module(
    register: str, leave: str, fresh: str, found: list[str]
) -> None:
    assert rules(CAM.format(register=register, leave=leave, fresh=fresh)) == found


def test_one_object_may_hook_what_it_is_given() -> None:
    one = CAM.format(register="layer.register_forward_hook(self.on)", leave="", fresh="")
    assert rules(one.replace("for image in images:\n            ", "if True:\n            ")) == []
