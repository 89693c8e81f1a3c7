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
        ("self.handle = layer.register_forward_hook(self.on)", "def close(self): self.handle.remove()", "", ["TN303"]),
        ("self.handle = layer.register_forward_hook(self.on)", "def detach(self): self.handle.remove()", "", ["TN303"]),
        ("layer.register_forward_hook(self.on)", "", "model = Net(image.shape)", []),
        ("self.own = nn.Linear(2, 2); self.own.register_forward_hook(self.on)", "", "", []),
    ],
)
def test_a_hook_stays_where_each_object_registers_on_the_same_module(
    register: str, leave: str, fresh: str, found: list[str]
) -> None:
    assert rules(CAM.format(register=register, leave=leave, fresh=fresh)) == found


def test_a_hook_goes_where_the_method_that_removes_it_is_called() -> None:
    closed = CAM.format(
        register="self.handle = layer.register_forward_hook(self.on)",
        leave="def close(self): self.handle.remove()",
        fresh="",
    )
    assert rules(closed.replace("yield cam(image[None])", "yield cam(image[None]); cam.close()")) == []
    assert rules(closed.replace("yield cam(image[None])", "yield cam(image[None]); self.done(cam.close)")) == []


def test_a_hook_of_a_base_class_stays_where_objects_of_the_class_below_are_made() -> None:
    text = CAM.format(register="layer.register_forward_hook(self.on)", leave="", fresh="")
    below = text.replace("def explain", "class Own(Cam):\n        pass\n    def explain").replace("= Cam(", "= Own(")
    assert rules(below) == ["TN303"]


def test_one_object_may_hook_what_it_is_given() -> None:
    one = CAM.format(register="layer.register_forward_hook(self.on)", leave="", fresh="")
    assert rules(one.replace("for image in images:\n            ", "if True:\n            ")) == []


LOOPS = """
    import torch
    from torch import nn
    def attach(layer, name=None):
        layer.register_forward_hook(report)
    def report(layer, args, output):
        print(output.shape)
    class Probe:
        def __init__(self, layer):
            self.layer = layer
        def attach_all(self):
            self.layer.register_forward_hook(report)
    def main(loader, models):
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        {loop}
"""


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for epoch in range(9): model[0].register_forward_hook(report)", ["TN303"]),
        ("for batch in loader: attach(model)", ["TN303"]),
        ("results = [attach(model) for batch in loader]", ["TN303"]),
        ("for batch in loader: probe = Probe(model); probe.attach_all()", ["TN303"]),
        ("for layer in model: layer.register_forward_hook(report)", []),
        ("for layer in model: attach(layer)", []),
        ("for name in ('0', '1'): attach(model.get_submodule(name))", []),
        ("for name in ('0', '1'): dict(model.named_modules())[name].register_forward_hook(report)", []),
        ("for name in ('0', '1'): model.register_forward_hook(print if name else report)", []),
        ("for each in models: fresh = nn.Linear(2, 2); attach(fresh)", []),
        ("for layer in model: probe = Probe(layer); probe.attach_all()", []),
        ("hooks = [attach(layer) for layer in model]", []),
    ],
)
def test_a_loop_over_layers_hooks_each_once(loop: str, found: list[str]) -> None:
    assert rules(LOOPS.format(loop=loop)) == found


LENS = """
    import torch
    class Lens:
        def __init__(self, model):
            self.model, self.handles = model, []
        def open(self):
            for block in self.model.blocks:
                self.handles.append(block.register_forward_hook(print))
        def close(self):
            for handle in self.handles:
                handle.remove()
    def main(model, questions):
        for question in questions:
            lens = Lens(model)
            lens.open()
            model(question)
            {leave}
"""


@pytest.mark.parametrize(("leave", "found"), [("", ["TN303"]), ("lens.close()", []), ("torch.atexit(lens.close)", [])])
def test_handles_that_only_a_method_removes_which_nothing_calls_stay(leave: str, found: list[str]) -> None:
    assert rules(LENS.format(leave=leave)) == found


SCALED = """
    import torch
    from torch.nn.modules.module import register_module_forward_hook
    def scale(model, factor):
        for weight in model.parameters():
            weight.register_hook(lambda grad: grad * factor)
    def count(model, x):
        register_module_forward_hook(print)
        model(x)
    def main(model, loader, names):
        {loop}
"""


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for epoch in range(9): scale(model, 0.9 ** epoch)", ["TN303"]),
        ("scale(model, 0.9)", []),
        ("for x in loader: count(model, x)", ["TN303"]),
        ("count(model, loader)", []),
    ],
)
def test_numbers_that_differ_from_turn_to_turn_choose_no_module(loop: str, found: list[str]) -> None:
    assert rules(SCALED.format(loop=loop)) == found
