from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8)
NET = "main.model -> __main__.Net#net -> ._parameters dict -> ['w'] parameter#w 1MiB parameter\n"
SGD = "main.optimizer -> torch.optim.sgd.SGD#sgd"


def grown(text: str) -> Suspect:
    (suspect,) = find_suspects([census(NET + text.format(step=step), step=step) for step in STEPS])
    return suspect


def test_hooks_of_an_optimizer_are_its_hooks_and_not_its_parameters() -> None:
    """Each is wrapped by torch (`no_grad`), and closes over its owner, which leads to weights in use."""
    hooks = f"{SGD} -> ._optimizer_step_post_hooks collections.OrderedDict"
    wrapped = "function#wrapper* file=/usr/lib/python3.12/site-packages/torch/utils/_contextlib.py:9 name=wrapper"
    measure = "function#measure* file=drift.py:12 name=measure"
    found = grown(
        f"{hooks} -> [*{{step}}] {wrapped} -> .__wrapped__ {measure} -> <cell start> tensor 64KiB\n"
        f"island -> [*{{step}}] {measure} -> <cell self> __main__.Watch#watch -> .weight parameter#w\n"
    )

    assert (found.holder.kind, found.holder.name, found.holder.expression, found.holder.element) == (
        "hook",
        "_optimizer_step_post_hooks",
        "optimizer._optimizer_step_post_hooks[*]",
        True,
    )


def test_hooks_of_a_parameter_go_by_the_name_that_its_module_has_for_it() -> None:
    """And not by the optimizer, whose state has the parameter for a key."""
    found = grown(
        f"{SGD} -> .state dict -> <member> parameter#w\n"
        "main.model -> __main__.Net#net -> ._parameters dict -> ['w'] parameter#w -> <hook> collections.OrderedDict"
        " -> [*{step}] function#hook* file=heads.py:31 name=hook -> <cell mask> tensor 64KiB\n"
    )

    assert (found.holder.kind, found.holder.name, found.holder.expression) == (
        "hook",
        "_tensor_hooks",
        "model.w (hooks)[*]",
    )


@pytest.mark.parametrize(("module", "kind"), [("lib:", "hook"), ("main.", "global")])
def test_hooks_of_all_modules_are_hooks_and_a_dict_of_the_program_is_none(module: str, kind: str) -> None:
    found = grown(
        f"{module}_global_forward_hooks -> collections.OrderedDict -> [*{{step}}] method#m* name=Probe.look"
        " -> <self> __main__.Probe#p* -> .seen tensor 64KiB\n"
    )

    assert (found.holder.kind, found.holder.name) == (kind, "_global_forward_hooks")


def test_hooks_tell_the_function_that_most_of_them_call() -> None:
    """Of bound methods it is the method's own, of partials what they call."""
    hooks = "main.net -> __main__.Net#net -> ._forward_hooks collections.OrderedDict"
    found = grown(
        f"{hooks} -> ['count'] function file=train.py:3 name=count -> <cell seen> tensor#seen 4KiB\n"
        f"{hooks} -> [*{{step}}] method#m* name=Recorder.save -> <self> __main__.Recorder#r* -> .kept tensor 64KiB\n"
    )

    assert (found.holder.kind, found.holder.name, found.holder.calls) == ("hook", "_forward_hooks", "Recorder.save")


def test_hooks_of_several_layers_that_share_what_they_fill_are_told_and_not_what_one_of_their_owners_has() -> None:
    layers = "main.net -> __main__.Net#net -> .layers list -> [{layer}] torch.nn.Linear#{layer}"
    hooks = f"{layers} -> ._forward_hooks collections.OrderedDict -> [*{{{{step}}}}] method#m{{layer}}*"
    drawn = f"{hooks} -> <self> __main__.Probe#p* -> .sums dict -> [{{layer}}] tensor#s{{layer}}* 64KiB\n"

    found = grown("".join(drawn.format(layer=layer) for layer in ("a", "b")))

    assert (found.holder.kind, found.holder.name) == ("hook", "_forward_hooks")
    assert [(each.kind, each.name) for each in found.cut] == [("hook", "_forward_hooks")] * 2


def test_a_list_that_gains_optimizers_is_told_and_not_its_owner() -> None:
    found = grown(
        "main.fitted -> __main__.Folds#folds -> .optimizers list -> [*{step}] torch.optim.adam.Adam#adam*"
        " -> .state dict -> ['w'] dict -> ['exp_avg'] tensor 64KiB state\n"
    )

    assert (found.holder.name, found.holder.expression, found.holder.element) == (
        "optimizers",
        "fitted.optimizers[*]",
        True,
    )


def test_a_graph_that_an_object_of_a_library_keeps_is_not_blamed_on_the_variable_for_the_object() -> None:
    steps = []
    for step in STEPS:
        chain = "".join(f" -> .next AddBackward0#a{at}" for at in range(step, -1, -1)).replace(".next", ".grad_fn", 1)
        line = f"main.manager -> torch.report.Manager#m -> ._summary torch.report.Summary#s -> ._sum tensor#x 4B{chain}"
        others = "lib:torch.report.reporters -> list -> [0] torch.report.Manager#m"
        steps.append(census(f"{NET}{line}\n{others}\n", step=step))
    (found,) = find_suspects(steps)

    assert (found.holder.kind, found.holder.name, found.through_graph) == ("attribute", "_sum", True)


def test_a_list_that_goes_by_the_name_of_a_modules_table_is_an_attribute_as_any() -> None:
    found = grown("main.metric -> __main__.Curve#curve -> ._buffers list -> [0] list -> [*{step}] tensor 64KiB\n")

    assert (found.holder.name, found.holder.expression, found.holder.owner_type) == (
        "_buffers",
        "metric._buffers[0][*]",
        "__main__.Curve",
    )


def test_a_chain_is_dropped_by_the_link_to_the_one_before() -> None:
    steps = []
    for step in STEPS:
        chain = "".join(f" -> .above __main__.Span#s{at}" for at in range(step - 1, -1, -1))
        notes = "".join(
            f"island -> __main__.Span#s{at} -> .notes dict#n{at} -> ['w'] tensor#t{at} 64KiB\n" for at in range(step)
        )
        steps.append(census(f"{NET}main.opened -> __main__.Span#s{step}{chain}\n{notes}", step=step))
    (found,) = find_suspects(steps)

    assert (found.holder.name, found.holder.expression, found.facts["chain_of"]) == (
        "above",
        "opened.above",
        "__main__.Span",
    )


def test_optimizers_of_a_chain_of_functions_are_held_by_its_links() -> None:
    steps = []
    for step in STEPS:
        functions = [f"function#report{at} file=crash.py:18 name=report" for at in range(step, -1, -1)]
        hooked = f"lib:sys.excepthook -> {' -> <cell following> '.join(functions)}"
        trials = "".join(
            f"island -> function#report{at} -> <cell trial> __main__.Trial#t{at}"
            f" -> .optimizer torch.optim.adam.Adam#o{at} -> .state dict#d{at} -> [0] parameter#p{at} 64KiB parameter\n"
            for at in range(step)
        )
        steps.append(census(f"{NET}{hooked}\n{trials}", step=step))
    (found,) = find_suspects(steps)

    assert (found.path_text[0], found.holder.kind, found.holder.name) == ("`sys.excepthook`", "closure", "following")


def test_an_optimizer_that_gets_ever_more_groups_is_held_by_its_name() -> None:
    groups = (
        "main.optimizer -> torch.optim.sgd.SGD#sgd -> .param_groups list -> [*{step}] dict -> ['p'] parameter 64KiB"
    )

    assert grown(groups).holder.name == "optimizer"


def test_what_comes_together_in_a_list_of_a_library_is_held_by_that_list() -> None:
    """Not by the program's own name for the object that has it, and not by what lies below its elements."""
    library = "lib:metrics.curve.Curve -> type\n"
    of_metric = grown(f"{library}main.auroc -> metrics.curve.Curve -> .preds list -> [*{{step}}] tensor 64KiB")
    of_loaders = grown(
        "class State(/x/site-packages/hub/state.py:3).loaders list -> [*{step}] hub.Loader#l*"
        " -> .base torch.utils.data.DataLoader -> .collate_fn __main__.Collator -> .model __main__.Net"
        " -> ._parameters dict -> ['w'] parameter 64KiB".replace(".loaders list", ".loaders -> list")
    )

    assert [of_metric.holder.expression, *(each.expression for each in of_metric.cut)] == ["auroc.preds[*]"] * 2
    assert [of_loaders.holder.expression, *(each.expression for each in of_loaders.cut)] == ["State.loaders[*]"] * 2
    assert (of_metric.holder.element, of_loaders.copies_of) == (True, "")
