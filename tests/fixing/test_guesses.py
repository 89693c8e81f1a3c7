from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edit_texts import FILE, line_of, new_lines, source_of
from fixing_findings import HISTORY
from tenure.fixing.guesses import LEAST_BYTES, MOST_WAYS, guess_edits
from tenure.model.finding import Finding, Holder, Symptom
from tenure.model.source import SourceFile


def finding_of(rule: str, holder: Holder, path: dict[str, str] | None = None, **values: Any) -> Finding:
    """`path` names each reference below the root's own, with what it leads to."""
    references = (f"local variable `{holder.expression.partition('.')[0]}` in main (t.py:1)", *(path or {}))
    evidence = {"kind": "path", "references": references, "targets": tuple((path or {}).values())}
    return replace(HISTORY, rule=rule, holder=holder, evidence=(evidence,), **values)


def ways(text: str, finding: Finding) -> list[str]:
    """The lines that are new, of each way."""
    source = source_of(text)
    placed = replace(finding, holder=replace(finding.holder, file=FILE, line=line_of(source)))
    return new_lines(source, guess_edits(placed, {FILE: source}))


CACHE = """
def grid(key):
    if key in GRIDS:
        return GRIDS[key]
    GRIDS[key] = make(key)  # here
    return 1
"""


@pytest.mark.parametrize(("grows_by", "size"), [(None, 4), (1.0, 4), (3.5, 8)])
def test_a_cache_keeps_what_two_steps_ask_for(grows_by: float | None, size: int) -> None:
    finding = finding_of("TN203", Holder("global", "GRIDS", "GRIDS[*]"), growth_objects_per_step=grows_by)

    assert ways(CACHE, finding)[0].splitlines()[0] == f"if len(GRIDS) >= {size}:"


def test_the_way_to_the_tensor_says_what_to_detach() -> None:
    text = """
    class Candidate:
        def __init__(self, clip, row):
            self.clip, self.row = clip, row
    class Shelf:
        def offer(self, clip, row):
            self.ranked.append(Candidate(clip, row))  # here
    """
    path = {".ranked": "list of 3", "[2]": "Candidate", ".row": "Tensor [6] float32", ".grad_fn": "Add"}
    finding = finding_of("TN107", Holder("attribute", "ranked", "run.ranked[*]"), path)

    assert ways(text, finding)[0] == "self.ranked.append(Candidate(clip, row.detach()))  # here"


def test_terms_are_detached_one_by_one_or_let_go() -> None:
    text = """
    class Criterion:
        def note(self, terms):
            self.terms = terms  # here
    """
    path = {".terms": "dict of 3", "['edge']": "Tensor [] float32", ".grad_fn": "Mean"}
    finding = finding_of("TN102", Holder("attribute", "terms", "run.terms"), path)

    assert ways(text, finding) == [
        "self.terms = {key: each.detach() for key, each in terms.items()}  # here",
        "self.terms = None",
        "self.terms = {key: each.detach() for key, each in self.terms.items()}",
    ]


def test_what_is_kept_by_name_is_detached_where_it_is_given() -> None:
    text = """
    class History:
        def put(self, **values):
            for name, value in values.items():
                self.rows[name].append(value)  # here
    history.put(cost=cost, rate=0.1)
    """
    path = {".rows": "defaultdict of 2", "['cost']": "list of 3", "[0]": "Tensor [] float32", ".grad_fn": "Mean"}
    finding = finding_of("TN101", Holder("item", "rows['cost']", "history.rows['cost'][*]"), path)

    assert ways(text, finding)[:2] == [
        "self.rows[name].append(value.detach())  # here",
        "history.put(cost=cost.detach(), rate=0.1)",
    ]


def test_gradients_that_close_a_ring_go_behind_what_reads_them() -> None:
    text = """
    def forces(energy, positions):
        energy.sum().backward(create_graph=True, inputs=[positions])  # here
        return -positions.grad
    """
    finding = finding_of("TN104", Holder("gradient", "backward", "positions.grad"))

    assert ways(text, finding) == ["result = -positions.grad\npositions.grad = None\nreturn result"]


def test_a_module_goes_behind_its_last_use_or_at_the_end_of_what_sets_it() -> None:
    text = """
    class Bank:
        def __init__(self, encoder):
            self.encoder = encoder  # here
            self.embed()
        def embed(self):
            self.vectors = self.encoder(self.prompts)
    """
    finding = finding_of("TN403", Holder("attribute", "encoder", "bank.encoder"))

    assert ways(text, finding) == ["self.encoder = None"] * 2


@pytest.mark.parametrize(
    ("rule", "line", "added"),
    [
        (
            "TN302",
            "attempts.append(Attempt(1, error))  # here",
            "attempts.append(Attempt(1, error.with_traceback(None)))",
        ),
        ("TN301", "self.error = owner  # here", "import weakref\n\n\nself.error = weakref.proxy(owner)"),
        ("TN204", "attempts.append(Attempt(1, error))  # here", ""),
        ("TN404", "attempts.append(Attempt(1, error))  # here", ""),
    ],
)
def test_each_rule_has_its_own_ways(rule: str, line: str, added: str) -> None:
    name = "error" if rule == "TN301" else "attempts"
    path = {".attempts": "list of 3", "[1]": "Attempt", ".error": "Error", ".__traceback__": "traceback"}
    if rule == "TN301":
        del path[".__traceback__"]
    finding = finding_of(rule, Holder("attribute", name, f"run.{name}[*]" if name == "attempts" else name), path)

    text = f"class Attempt:\n    number: int\n    error: object\ndef note(self, owner, error):\n    {line}\n"
    found = ways(text, finding)
    assert [each.partition("  # here")[0] for each in found] == ([added] if added else [])


def test_an_exception_that_an_attribute_is_given_later_goes_without_its_frames() -> None:
    text = """
    def call(journal):
        attempt = Attempt(1)
        journal.attempts.append(attempt)  # here
        try:
            work()
        except Full as error:
            attempt.error = error
    """
    path = {".attempts": "list of 3", "[1]": "Attempt", ".error": "Full", ".__traceback__": "traceback"}
    finding = finding_of("TN302", Holder("attribute", "attempts", "journal.attempts[*]"), path)

    assert ways(text, finding) == ["attempt.error = error.with_traceback(None)"]


def test_nothing_is_guessed_of_what_is_only_possible_or_small_or_of_a_library_or_has_no_place() -> None:
    holder = Holder("global", "GRIDS", "GRIDS[*]", FILE, line_of(source_of(CACHE)))
    finding = finding_of("TN203", holder)
    source = source_of(CACHE)

    assert guess_edits(finding, {FILE: source})
    assert guess_edits(replace(finding, confidence="possible"), {FILE: source}) == ()
    assert guess_edits(replace(finding, retained_bytes=LEAST_BYTES - 1), {FILE: source}) == ()
    assert guess_edits(finding, {FILE: replace(source, origin="library")}) == ()
    assert guess_edits(finding, {}) == ()
    assert guess_edits(replace(finding, holder=replace(holder, line=None)), {FILE: source}) == ()
    assert guess_edits(finding, {FILE: SourceFile(FILE, "def broken(:")}) == ()


def test_so_many_ways_and_no_more() -> None:
    readers = "".join(f"    def read{number}(self):\n        return self.x.shape\n" for number in range(9))
    text = f"class A:\n    def __init__(self, x):\n        self.x = x  # here\n{readers}"

    assert len(ways(text, finding_of("TN106", Holder("attribute", "x", "a.x")))) == MOST_WAYS


def test_of_a_ring_only_what_may_be_an_owner_is_referred_to_weakly() -> None:
    text = """
    import weakref
    class Trainer:
        def __init__(self, callbacks):
            self.callbacks = callbacks  # here
            for each in callbacks:
                each.attach(self)
    class Callback:
        def attach(self, trainer):
            self.trainer = trainer
    """
    path = {".callbacks": "list of 2", "[0]": "Callback", ".trainer": "Trainer"}
    finding = finding_of("TN301", Holder("cycle", "ring", "Trainer.callbacks"), path)

    assert ways(text, finding) == ["self.trainer = weakref.proxy(trainer)"]


@pytest.mark.parametrize(("symptom", "opened"), [("cycle", True), ("growth", False)])
def test_a_ring_through_a_hook_is_opened_as_any_other_ring(symptom: Symptom, opened: bool) -> None:
    text = """
    class Rule:
        def keep(self, module, inputs, output):
            self.stored = output  # here
            output.register_hook(self.scale())
        def scale(self):
            def on_gradient(gradient):
                return gradient * self.stored
            return on_gradient
    """
    finding = finding_of("TN303", Holder("cycle", "stored", "Rule.stored"), {".stored": "Tensor"})

    found = ways(text, replace(finding, symptom=symptom))

    assert any("weakref.proxy" in each for each in found) is opened


def test_what_a_list_in_a_list_gains_is_copied_where_it_is_added() -> None:
    text = """
    class Picks:
        def add(self, rows, box):
            self.by_epoch[-1].append((rows[:5], box))  # here
    """
    path = {".by_epoch": "list of 2", "[1]": "list of 3", "[2]": "tuple of 2", "[0]": "Tensor [5, 32] float32"}
    finding = finding_of("TN204", Holder("attribute", "by_epoch", "picks.by_epoch[*]"), path)

    assert ways(text, finding) == ["self.by_epoch[-1].append((rows[:5].clone(), box))  # here"]


def test_an_exception_that_is_the_cause_of_the_next_one_goes_without_its_frames() -> None:
    text = """
    def step(self):
        try:
            work()
        except Full as error:
            self.last = error  # here
    """
    path = {".last": "Full", ".__cause__": "Full", ".__traceback__": "traceback"}
    finding = finding_of("TN302", Holder("attribute", "last", "search.last"), path)

    assert ways(text, finding)[0] == "self.last = error.with_traceback(None)  # here"


def test_what_a_cached_property_gave_is_computed_anew() -> None:
    text = """
    class Molecule:
        @cached_property
        def shells(self):
            return cdist(self.places, self.places)

    class Screen:
        def __init__(self, molecules):
            self.molecules = list(molecules)  # here
    """
    path = {".molecules": "list of 3", "[1]": "Molecule", ".shells": "Tensor [2] float32"}
    finding = finding_of("TN202", Holder("attribute", "molecules", "screen.molecules[*]"), path)

    assert ways(text, finding)[0] == "@property"


def test_views_that_a_dictionary_of_its_own_class_keeps_are_copied_in_its_method() -> None:
    text = """
    class Exemplars(dict):
        def offer(self, label, row):
            self[label] = (label, row)

    class Trainer:
        def __init__(self):
            self.exemplars = Exemplars()  # here
    """
    holder = Holder("attribute", "exemplars", "trainer.exemplars[*]")
    way = {".exemplars": "Exemplars of 9", "[3]": "tuple of 2", "[1]": "Tensor [4] float32, 4 MiB"}
    finding = finding_of("TN204", holder, way)

    assert ways(text, finding) == ["self[label] = (label, row.clone())"]


def test_a_suspended_generator_is_closed_behind_the_loop_that_left_it() -> None:
    text = """
    class Fold:
        def fit(self):
            for batch in self.feed:
                if self.update(batch):
                    break

    class Backtest:
        def advance(self, fold):
            self.folds.append(fold.fit())  # here
    """
    holder = Holder("attribute", "folds", "backtest.folds[*]")
    way = {".folds": "list of 9", "[0]": "Fold", ".feed": "generator", "local variable": "Tensor [4] float32, 4 MiB"}

    assert ways(text, finding_of("TN305", holder, way)) == ["self.feed.close()"]


def test_a_named_tuple_is_not_emptied() -> None:
    text = """
    Best = namedtuple("Best", "score weights")

    class Keeper:
        def offer(self, score, weights):
            self.best = Best(score, weights)  # here

        def gain(self):
            return self.best.score
    """
    holder = Holder("attribute", "best", "keeper.best[*]")
    finding = finding_of("TN202", holder, {".best": "Best of 2", "[1]": "Tensor [4] float32, 4 MiB"})

    assert ways(text, finding) == []


def test_a_field_of_a_named_tuple_is_told_by_its_place() -> None:
    text = """
    class Report(NamedTuple):
        worst: float = 0.0
        entropy: tuple = ()
        def extended(self, spread):
            return self._replace(entropy=(*self.entropy, spread))
    report = Report()  # here
    """
    path = {"[1]": "tuple of 43", "[31]": "Tensor [2] float32", ".grad_fn": "Mean"}
    finding = finding_of("TN107", Holder("local", "report", "report[1][*]"), path)

    assert "return self._replace(entropy=(*self.entropy, spread.detach()))" in ways(text, finding)


def test_what_a_librarys_handler_keeps_of_the_programs_records_is_mended_where_it_logs() -> None:
    source = source_of("def on_step(self, step, focal):\n    self.journal.info('%d %f', step, focal)\n")
    path = {".buffer": "list of 3", "[2]": "LogRecord", ".args": "tuple of 2", "[1]": "Tensor []", ".grad_fn": "Mean"}
    holder = Holder("attribute", "buffer", "journal.handlers[0].buffer[*]", "handlers.py", 1324)
    sources = {FILE: source, "handlers.py": SourceFile("handlers.py", "", origin="library")}

    for rule, expected in (
        ("TN101", ["self.journal.info('%d %f', step, focal.detach())", "self.journal.info('%d %f', step, str(focal))"]),
        ("TN202", ["self.journal.info('%d %f', step, str(focal))"]),
    ):
        assert new_lines(source, guess_edits(finding_of(rule, holder, path), sources)) == expected
    del path[".args"]
    assert guess_edits(finding_of("TN101", holder, {".buffer": "list of 3", "[2]": "Tensor []"}), sources) == ()


@pytest.mark.parametrize(
    ("kind", "expected"), [("method", "self.rows[key] = lambda made=render(): made  # here"), ("Report", "")]
)
def test_a_method_that_is_kept_is_called_where_it_is_kept(kind: str, expected: str) -> None:
    text = """
    def enrol(self, key, render):
        self.rows[key] = render  # here
    """
    path = {".rows": "dict of 3", "['a']": kind, ".__self__": "Run", ".train": "Tensor [6] float32"}
    finding = finding_of("TN203", Holder("attribute", "rows", "report.rows[*]"), path)

    assert (expected in ways(text, finding)) is bool(expected)


def test_of_an_object_that_is_destroyed_what_leads_to_the_holder_goes_too() -> None:
    text = """
    class Engine:
        def __init__(self, module, optimizer):
            self.module, self.optimizer = module, optimizer
        def destroy(self):
            self.module = None
    class Flat:
        def __init__(self, params):
            self.params = list(params)  # here
            self.step = 0
    """
    holder = Holder("attribute", "params", "engine.optimizer.params")
    path = {".optimizer": "Flat", ".params": "list of 3", "[2]": "Tensor [6] float32"}
    found = ways(text, finding_of("TN401", holder, path))

    assert "self.optimizer = None" in found


def test_a_field_that_nobody_reads_is_left_out() -> None:
    text = """
    class Result(NamedTuple):
        accuracy: float
        learner: object
    class Board:
        def add(self, accuracy, learner):
            self.rows.append(Result(accuracy, learner))  # here
    """
    holder = Holder("attribute", "rows", "board.rows[*]")
    path = {".rows": "list of 3", "[2]": "Result", ".learner": "Linear", ".weight": "Tensor [6] float32"}

    assert "self.rows.append(Result(accuracy, None))  # here" in ways(text, finding_of("TN402", holder, path))


def test_the_hook_that_leads_to_a_module_is_removed_by_who_registered_it() -> None:
    text = """
    def listener(teacher):  # here
        return lambda module, given, answer: teacher(*given)
    class Guide:
        def __init__(self, student, teacher):
            self.handle = student.register_forward_hook(listener(teacher))
        def close(self):
            self.over = True
    """
    holder = Holder("closure", "teacher", "teacher")
    path = {"._forward_hooks": "OrderedDict of 1", "[5]": "function", "closure variable `teacher` of f (t.py:2)": "Net"}

    assert ways(text, finding_of("TN401", holder, path))[0] == "self.handle.remove()"
    without = {label: kind for label, kind in path.items() if label != "._forward_hooks"}
    assert ways(text, finding_of("TN401", holder, without)) == []


def test_a_lambda_that_leads_to_a_module_is_called_where_it_is_written() -> None:
    text = """
    class Report:
        def add(self, name, text):
            self.rows.append((name, text))  # here
        def note(self, model):
            self.add("norm", lambda: describe(model))
    """
    holder = Holder("attribute", "rows", "report.rows[*]")
    closure = "closure variable `model` of Report.note.<locals>.<lambda> (t.py:5)"
    path = {".rows": "list of 3", "[1]": "tuple of 2", "[0]": "function", closure: "Linear"}

    assert 'self.add("norm", lambda made=describe(model): made)' in ways(text, finding_of("TN402", holder, path))
