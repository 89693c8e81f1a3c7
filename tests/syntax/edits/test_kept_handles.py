from __future__ import annotations

import pytest

from edit_texts import line_of, new_lines, source_of
from tenure.syntax.edits.kept_handles import remove_handles


def ways(text: str) -> list[str]:
    """The changed texts, without the lines that stay."""
    source = source_of(text)
    return new_lines(source, remove_handles(source, line_of(source)))


def test_a_method_that_ends_the_work_removes_the_hook() -> None:
    text = """
    class Probe:
        def attach(self, module):
            module.register_forward_hook(self)  # here
            return self

        def close(self):
            self.seen = None
    """
    assert ways(text) == [
        'vars(self).setdefault("_hook_handles", []).append(module.register_forward_hook(self))  # here\n'
        'for handle in vars(self).pop("_hook_handles", ()):\nhandle.remove()',
        'if hasattr(self, "_hook_handle"):\nself._hook_handle.remove()\n'
        "self._hook_handle = module.register_forward_hook(self)  # here",
    ]


def test_hooks_of_a_loop_are_kept_in_a_list() -> None:
    text = """
    class Audit:
        def on_epoch_start(self, model):
            for name in self.layers:
                model.get(name).register_forward_hook(self.add)  # here

        def on_epoch_end(self, model):
            print(self.energy)
    """
    assert ways(text) == [
        'vars(self).setdefault("_hook_handles", []).append(model.get(name).register_forward_hook(self.add))  # here\n'
        'for handle in vars(self).pop("_hook_handles", ()):\nhandle.remove()'
    ]


def test_a_handle_that_has_a_name_is_collected_behind_it() -> None:
    text = """
    class Registry:
        def install(self, layer, probe):
            handle = layer.register_forward_hook(probe)  # here
            self.probes[layer] = probe, handle

        def clear(self):
            self.probes.clear()
    """
    assert ways(text) == [
        'vars(self).setdefault("_hook_handles", []).append(handle)\n'
        'for handle in vars(self).pop("_hook_handles", ()):\nhandle.remove()'
    ]


def test_of_several_hooks_not_only_the_last_is_removed() -> None:
    text = """
    class Contributions:
        def __init__(self, net):
            for layer in net.modules():
                self.handle = layer.register_forward_hook(self.note)  # here

        def explain(self, inputs):
            self.net(inputs)
            self.handle.remove()
    """
    assert ways(text) == [
        'vars(self).setdefault("_hook_handles", []).append(self.handle)\n'
        'for handle in vars(self).pop("_hook_handles", ()):\nhandle.remove()'
    ]


def test_a_handle_that_is_kept_already_is_removed() -> None:
    text = """
    class Probe:
        def __enter__(self):
            self.handle = register_module_forward_hook(self.look)  # here
            return self

        def __exit__(self, *exc):
            self.on = False
    """
    assert ways(text) == [
        "self.handle.remove()",
        'if getattr(self, "handle", None) is not None:\nself.handle.remove()',
    ]


def test_a_function_removes_the_hooks_that_it_needs_itself() -> None:
    text = """
    def explain(model, names, images):
        for name in names:
            model.get(name).register_forward_hook(watch)  # here
        scores = model(images)
        return scores.sum()
    """
    assert ways(text) == [
        "handles = []\nhandles.append(model.get(name).register_forward_hook(watch))  # here\n"
        "result = scores.sum()\nfor handle in handles:\nhandle.remove()\nreturn result"
    ]


def test_a_hook_that_is_defined_in_the_function_and_whose_handle_is_given_back_is_removed_where_that_ends() -> None:
    text = """
    class Watch:
        def measure(self, inputs, loss):
            def note(gradients):  # here
                self.pairs.append(inputs)

            handle = register_multi_grad_hook(self.parameters, note)
            loss.backward()
            return handle
    """
    assert "handle.remove()" in ways(text)


def test_the_hook_of_the_same_key_goes_when_the_next_comes() -> None:
    text = """
    class Tuner:
        def freeze(self, name, mask):
            self.weights[name].register_hook(partial(torch.mul, mask))  # here
    """
    assert ways(text) == [
        'handles = vars(self).setdefault("_hook_handles", {})\nif name in handles:\nhandles[name].remove()\n'
        "handles[name] = self.weights[name].register_hook(partial(torch.mul, mask))  # here"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "model.register_forward_hook(f)  # here\nrun()\n",
        "def listen(weight):\n    heard = []\n    weight.register_hook(heard.append)  # here\n    return heard\n",
        "def f(module):\n    if module: module.register_hook(g)  # here\n    run()\n",
        "def f(module):\n    module.register_buffer('x', y)  # here\n    run()\n",
    ],
)
def test_no_way_where_the_hook_may_be_meant_to_stay(text: str) -> None:
    assert ways(text) == []


def test_a_context_manager_removes_the_hooks_of_its_block_in_any_case() -> None:
    text = """
    @contextmanager
    def activations(**layers):
        seen = {}
        for name, layer in layers.items():
            layer.register_forward_hook(seen)  # here
        yield seen
    """
    assert ways(text) == [
        "handles = []\nhandles.append(layer.register_forward_hook(seen))  # here\n"
        "try:\nyield seen\nfinally:\nfor handle in handles:\nhandle.remove()"
    ]


def test_one_hook_of_a_block_is_removed_behind_it() -> None:
    text = """
    @contextlib.contextmanager
    def watched(layer, seen):
        layer.register_forward_hook(seen.append)  # here
        yield
    """
    assert ways(text) == [
        "handle = layer.register_forward_hook(seen.append)  # here\ntry:\nyield\nfinally:\nhandle.remove()"
    ]


def test_handles_whose_key_comes_twice_are_collected_beside_it() -> None:
    text = """
    class Taps:
        def __enter__(self):
            for layer in self.layers:
                self.handles[type(layer)] = layer.register_forward_hook(self.see)  # here

        def __exit__(self, *_):
            self.handles.clear()
    """
    assert ways(text) == [
        'vars(self).setdefault("_hook_handles", []).append(self.handles[type(layer)])\n'
        'for handle in vars(self).pop("_hook_handles", ()):\nhandle.remove()'
    ]


def test_the_hook_that_an_earlier_object_registered_on_the_same_module_goes() -> None:
    text = """
    class Client:
        def __init__(self, model):
            model.register_state_dict_post_hook(self.audit)  # here
            self.rows = {}
    """
    assert ways(text)[-1] == (
        'if "_hook_of_client" in vars(model):\nvars(model)["_hook_of_client"].remove()\n'
        'vars(model)["_hook_of_client"] = model.register_state_dict_post_hook(self.audit)  # here'
    )
