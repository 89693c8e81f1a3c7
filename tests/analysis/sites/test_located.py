from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS
from tenure.analysis.sites.located import locate
from tenure.model.source import SourceFile
from tenure.model.suspect import CUT_IN_LIBRARY, KEPT_SHORT, MADE_LARGER, OF_LOSSES, HoldingReference

PROMPT = """import sys

def show(error):
    sys.last_value = error
"""
TRAINING = """def fit(batches):
    loss = compute(batches)
    return loss
"""
LAST = HoldingReference("global", "last_value", "last_value")
VARIABLE = HoldingReference("local", "loss", "loss", scope_file="fit.py", scope_function="fit", scope_line=2)


@pytest.mark.parametrize(
    ("origin", "told"), [("yours", ("last_value", "prompt.py", 4)), ("library", ("loss", "fit.py", 2))]
)
def test_the_last_error_is_told_where_the_program_sets_it_and_by_its_variable_where_a_library_does(
    origin: str, told: tuple[str, str, int]
) -> None:
    sources = {
        "prompt.py": SourceFile("prompt.py", PROMPT, origin=origin),
        "fit.py": SourceFile("fit.py", TRAINING),
    }
    kept = replace(SPECIMENS["TN302"], symptom="survivor", holder=VARIABLE, cut=(LAST,))

    holder = locate(kept, sources).holder

    assert (holder.name, holder.sites[0].file, holder.sites[0].line) == told


SMOOTHING = """def exponential():
    level = yield
    while True:
        value = yield level
        level = 0.9 * level + 0.1 * value
"""
FITTING = """def main(smooth):
    for batch in batches:
        bias = smooth.send(batch)
"""
LEVEL = HoldingReference("local", "level", "level", scope_file="s.py", scope_function="exponential", scope_line=4)
BIAS = HoldingReference("local", "bias", "bias", scope_file="f.py", scope_function="main", scope_line=3)


@pytest.mark.parametrize(("carrying", "told"), [("0.9 * level + 0.1 * value", "level"), ("value", "bias")])
def test_of_variables_with_one_state_the_one_that_carries_it_on_is_told(carrying: str, told: str) -> None:
    text = SMOOTHING.replace("0.9 * level + 0.1 * value", carrying)
    sources = {"s.py": SourceFile("s.py", text), "f.py": SourceFile("f.py", FITTING)}
    kept = replace(SPECIMENS["TN105"], symptom="growth", holder=BIAS, cut=(LEVEL, BIAS), through_graph=True)

    found = locate(kept, sources)

    assert (found.holder.name, [each.name for each in found.cut]) == (told, ["level", "bias"])


TRACKING = """class Tracker:
    def update(self, loss):
        if self.value is None:
            self.value = loss
        else:
            old = self.value
            self.value = {value}
        if self.value < self.best:
            self.best = self.value
"""
BEST = HoldingReference("attribute", "best", "tracker.best", owner_type="track.Tracker", scope_file="track.py")
VALUE = replace(BEST, name="value", expression="tracker.value")


@pytest.mark.parametrize(("value", "told"), [("0.9 * old + 0.1 * loss", ("value", 7)), ("min(old, loss)", ("best", 9))])
def test_of_names_for_one_chain_the_one_that_goes_on_with_it_is_told(value: str, told: tuple[str, int]) -> None:
    sources = {"track.py": SourceFile("track.py", TRACKING.replace("{value}", value))}
    kept = replace(
        SPECIMENS["TN105"], symptom="growth", holder=BEST, cut=(BEST,), chain_entries=(BEST, VALUE), through_graph=True
    )

    holder = locate(kept, sources).holder

    assert (holder.name, holder.sites[0].line) == told


KEEPING = """class Ensemble:
    def keep(self, model):
        self.members.append(model)
        if len(self.members) > 4:
            self.members.pop(0)
"""
MEMBERS = HoldingReference("attribute", "members", "run.members[*]", owner_type="a.Ensemble", element=True)


@pytest.mark.parametrize(
    ("symptom", "through_graph", "element", "short"),
    [("growth", False, True, 4), ("sawtooth", False, True, None), ("growth", True, True, None),
     ("growth", False, False, None)],
)  # fmt: skip
def test_what_the_program_keeps_short_is_known_of_growing_containers_without_graphs(
    symptom: str, through_graph: bool, element: bool, short: int | None
) -> None:
    holder = replace(MEMBERS, element=element)
    kept = replace(SPECIMENS["TN202"], symptom=symptom, through_graph=through_graph, holder=holder, cut=(holder,))

    assert locate(kept, {"a.py": SourceFile("a.py", KEEPING)}).facts.get(KEPT_SHORT) == short


@pytest.mark.parametrize(
    ("symptom", "through_graph", "objects", "asks"),
    [
        ("growth", False, None, 3),
        ("peak", False, None, None),
        ("growth", True, None, None),
        ("growth", False, 1.0, None),
    ],
)
def test_what_swells_only_where_the_program_asks_for_room_is_known(
    symptom: str, through_graph: bool, objects: float | None, asks: int | None
) -> None:
    text = "class Space:\n    def part(self, n):\n        if len(self.flat) < n:\n            self.flat = empty(n)\n"
    flat = HoldingReference("attribute", "flat", "space.flat", owner_type="a.Space")
    swelling = replace(SPECIMENS["TN202"], symptom=symptom, through_graph=through_graph, holder=flat, cut=(flat,))

    found = locate(replace(swelling, growth_objects_per_step=objects), {"a.py": SourceFile("a.py", text)})

    assert found.facts.get(MADE_LARGER) == asks


@pytest.mark.parametrize(
    ("idle", "kind", "short"), [(True, "attribute", 6), (False, "attribute", None), (True, "local", None)]
)
def test_what_a_cache_with_an_end_holds_idle_at_the_peak_is_known_to_be_kept_short(
    idle: bool, kind: str, short: int | None
) -> None:
    holder = replace(MEMBERS, element=False, kind=kind)
    facts: dict[str, object] = {"idle_at_peak": True} if idle else {}
    kept = replace(SPECIMENS["TN202"], symptom="peak", holder=holder, cut=(holder,), facts=facts)
    made = "class Ensemble:\n    def __init__(self):\n        self.members = []\n"

    text = KEEPING.replace("class Ensemble:\n", made)
    assert locate(kept, {"a.py": SourceFile("a.py", text)}).facts.get(KEPT_SHORT) == short


AVERAGING = """class Ledger:
    def blend(self, {given}):
        self.drift = self.drift.lerp({given}, 0.1)

drift = drift.lerp({given}, 0.1)
"""


@pytest.mark.parametrize(
    ("line", "given", "average", "told"),
    [(3, "loss", True, True), (3, "figure", True, None), (3, "loss", False, None), (5, "loss", True, True)],
)
def test_an_average_is_of_losses_by_the_words_of_its_function_or_its_line(
    line: int, given: str, average: bool, told: bool | None
) -> None:
    in_class = HoldingReference("attribute", "drift", "ledger.drift", owner_type="a.Ledger")
    in_module = HoldingReference("global", "drift", "drift", scope_file="a.py", scope_function="<module>")
    holder = in_class if line == 3 else in_module
    facts = {"kept_average": True} if average else {}
    kept = replace(SPECIMENS["TN105"], holder=holder, cut=(holder,), facts=facts, through_graph=True)

    found = locate(kept, {"a.py": SourceFile("a.py", AVERAGING.format(given=given))})

    assert (found.holder.sites[0].line, found.facts.get(OF_LOSSES)) == (line, told)


ALIGNING = """class Aligning(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = x.softmax(-1)
        return x.sum()

def keep(history, x):
    history.append(Aligning.apply(x))
"""
KEPT_BY = HoldingReference(
    "local", "history", "history[*]", scope_file="a.py", scope_function="keep", scope_line=8, element=True
)
ON_CTX = {"ctx_attribute": "slope", "ctx_type": "a.AligningBackward"}


@pytest.mark.parametrize(
    ("left", "origin", "kept_by", "told"),
    [
        (True, "yours", "history", ("ctx.slope", 4)),
        (False, "yours", "history", ("history[*]", 8)),
        (True, "library", "history", ("history[*]", 8)),
        (True, "yours", "losses", ("losses[*]", 8)),
    ],
)
def test_what_backward_leaves_on_ctx_is_told_where_the_program_puts_it_there_and_dropped_where_it_is_kept(
    left: bool, origin: str, kept_by: str, told: tuple[str, int]
) -> None:
    sources = {"a.py": SourceFile("a.py", ALIGNING.replace("history", kept_by), origin=origin)}
    holder = replace(KEPT_BY, name=kept_by, expression=f"{kept_by}[*]")
    facts = ON_CTX | ({"left_on_ctx": True} if left else {})
    kept = replace(SPECIMENS["TN101"], holder=holder, cut=(holder,), facts=facts, through_graph=True)

    found = locate(kept, sources)

    assert (found.holder.expression, found.holder.sites[0].line) == told
    assert [(each.expression, each.sites[0].line) for each in found.cut] == [(holder.expression, 8)]


@pytest.mark.parametrize(
    ("given", "element", "told"), [("losses", True, True), ("figures", True, None), ("losses", False, None)]
)
def test_what_a_container_gains_is_of_losses_where_the_statement_that_adds_it_calls_it_so(
    given: str, element: bool, told: bool | None
) -> None:
    text = f"class Balancer:\n    def backward(self, {given}):\n        self.latest.append({given})\n"
    holder = HoldingReference("attribute", "latest", "self.latest[*]", owner_type="a.Balancer", element=element)
    kept = replace(SPECIMENS["TN107"], holder=holder, cut=(holder,))

    assert locate(kept, {"a.py": SourceFile("a.py", text)}).facts.get(OF_LOSSES) == told


@pytest.mark.parametrize(("owner", "told"), [("lib.Cache", True), ("a.Run", None)])
def test_references_of_a_librarys_beside_the_users_are_known(owner: str, told: bool | None) -> None:
    mine = HoldingReference("attribute", "loss", "run.loss", owner_type="a.Run")
    other = HoldingReference("attribute", "memo", "cache.memo", owner_type=owner)
    texts = {"a.py": "class Run:\n    def step(self):\n        self.loss = self.memo = f()\n"}
    sources = {path: SourceFile(path, text) for path, text in texts.items()}
    sources["lib.py"] = SourceFile("lib.py", "class Cache:\n    def put(self, x):\n        self.memo = x\n", "library")
    held = replace(SPECIMENS["TN102"], holder=mine, cut=(mine, other))

    assert locate(held, sources).facts.get(CUT_IN_LIBRARY) == told
