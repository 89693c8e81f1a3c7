from __future__ import annotations

import pytest

from tenure.analysis.sites.library_calls import by_the_users_call
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

LIBRARY = "/usr/lib/python3.12/weakref.py"
MINE = "/home/me/sessions.py"
CALL = "import weakref\n\n\ndef open(engine, scratch):\n    weakref.finalize(engine, print, scratch)\n"


def located(function: str, text: str, *, file: str = LIBRARY) -> HoldingReference:
    reference = HoldingReference(
        "class", "_registry", "finalize._registry[*]", sites=(SourceLocation(file, 3, function),)
    )
    library, mine = SourceFile(LIBRARY, "", "library"), SourceFile(MINE, text)
    return by_the_users_call(reference, {LIBRARY: library, MINE: mine})


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("finalize.__init__", CALL),
        ("finalize", CALL.replace("weakref.finalize", "finalize")),
        ("Executor.finalize", CALL.replace("weakref.", "pool.")),
    ],
)
def test_the_users_call_of_a_class_or_function_stands_for_the_line_inside_it(function: str, text: str) -> None:
    found = located(function, text)

    assert (found.name, found.expression, found.sites, found.library_sites) == (
        "finalize",
        "finalize._registry[*]",
        (SourceLocation(MINE, 5, "open"),),
        (SourceLocation(LIBRARY, 3, function),),
    )


@pytest.mark.parametrize(
    "function", ["_Info.__setattr__", "Module._call_impl", "Metric.update", "Net.forward", "<module>"]
)
def test_what_nobody_calls_by_that_name_alone_stays_with_the_library(function: str) -> None:
    text = "def go(m):\n    m._call_impl()\n    m.update(1)\n    m.forward(2)\n"

    assert [(site.file, site.line) for site in located(function, text).sites] == [(LIBRARY, 3)]


def test_a_statement_of_the_users_own_is_left_as_it_is() -> None:
    assert [site.line for site in located("finalize", CALL, file=MINE).sites] == [3]


def test_several_calls_are_all_told() -> None:
    twice = CALL + "    weakref.finalize(scratch, print)\n"

    assert [site.line for site in located("finalize.__init__", twice).sites] == [5, 6]


def filled(text: str, expression: str = "self.auroc.preds[*]") -> tuple[str, list[tuple[str, int]], list[int]]:
    """Name, places and the library's line of a list that `Curve.update` of a library fills."""
    reference = HoldingReference(
        "attribute", "preds", expression, sites=(SourceLocation(LIBRARY, 3, "Curve.update"),), element=True
    )
    found = by_the_users_call(reference, {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, text)})
    return found.name, [(site.file, site.line) for site in found.sites], [site.line for site in found.library_sites]


@pytest.mark.parametrize(
    "text",
    [
        "seen.update(x)\nauroc.compute()\nauroc.update(x, y)\n",
        "seen.update(x)\nauroc.compute()\nself.auroc['val'].update(x, y)\n",
        "seen.update(x)\nauroc.compute()\nself.auroc(x, y)\n",
        "auroc(y)\nauroc.compute()\nauroc.put(x, y)\n",  # a private method of the library's stores
    ],
)
def test_a_method_of_any_name_is_known_by_the_object_that_it_is_called_on(text: str) -> None:
    assert filled(text) == ("preds", [(MINE, 3)], [3])


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("other.update(x)\n", "auroc.preds[*]"),
        ("self.update(x)\n", "self.preds[*]"),
        ("auroc.update(", "auroc.preds[*]"),
        ("import torch\ntorch.stack(parts)\n", "stack.preds[*]"),
        ("layers.append(Norm())\n", "layers[1].preds"),  # the list, and not the layer in it
    ],
)
def test_a_method_of_any_name_on_another_object_tells_nothing(text: str, expression: str) -> None:
    assert filled(text, expression) == ("preds", [(LIBRARY, 3)], [])


KEEPER = """\
class Other:
    def prepare(self):
        self._prepare_model()


class Keeper:
    def prepare(self, *objects):
        return [self._prepare_one(each) for each in objects]

    def _prepare_one(self, each):
        return self._prepare_model(each)

    def _prepare_model(self, model):
        self._models.append(model)

    def log(self, values):
        self.tracker.log(values)
"""


def test_what_an_object_has_for_itself_is_filled_by_calls_of_the_object() -> None:
    """`ReplayBuffer` has a storage, which has a list."""
    text = "other.put(x)\nself.hard.add(step)\nself.hard.sample(8)\n"

    assert filled(text, "replay.hard._storage.preds[*]") == ("preds", [(MINE, 2)], [3])
    assert filled(text, "_hard.preds[*]") == ("preds", [(LIBRARY, 3)], [])


def kept(text: str, *, library: str = KEEPER) -> list[tuple[str, int]]:
    """Where a list is told to be filled that a private method of a library's class fills."""
    reference = HoldingReference(
        "attribute",
        "_models",
        "self.keeper._models[*]",
        sites=(SourceLocation(LIBRARY, 13, "Keeper._prepare_model"), SourceLocation(LIBRARY, 99, "Other.load")),
        element=True,
    )
    sources = {LIBRARY: SourceFile(LIBRARY, library, "library"), MINE: SourceFile(MINE, text)}
    return [(site.file, site.line) for site in by_the_users_call(reference, sources).sites]


def test_a_method_that_in_the_end_calls_the_one_that_stores_is_the_users_call() -> None:
    assert kept("keeper = Keeper()\nkeeper.log(1)\nmodel = self.keeper.prepare(model)\n") == [(MINE, 3)]


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("keeper.log(1)\n", KEEPER),
        ("other.prepare(model)\n", KEEPER),
        ("keeper.prepare(model)\n", KEEPER.replace("class Keeper", "class Renamed")),
        ("keeper.prepare(model)\n", "class Keeper(:\n"),
    ],
)
def test_methods_that_do_not_lead_there_tell_nothing(text: str, library: str) -> None:
    assert kept(text, library=library) == [(LIBRARY, 13), (LIBRARY, 99)]


def test_a_function_that_a_library_caches_is_told_where_it_is_defined() -> None:
    cached = HoldingReference("cache", "index", "Rows.index[*]", sites=(SourceLocation(LIBRARY, 2, "Rows"),))
    sources = {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, "rows = Rows(table)\n")}

    assert by_the_users_call(cached, sources) == cached


def stored(text: str, function: str = "WeakKeyDictionary.__setitem__") -> list[tuple[str, int]]:
    """Places of what a dict of a library's keeps in its own `data`."""
    reference = HoldingReference(
        "attribute", "data", "_made.data[*]", sites=(SourceLocation(LIBRARY, 3, function),), element=True
    )
    found = by_the_users_call(reference, {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, text)})
    return [(site.file, site.line) for site in found.sites]


def test_a_store_by_key_stands_for_the_line_inside_a_librarys_dict() -> None:
    text = "_made = WeakKeyDictionary()\nother[g] = 1\n_made.x = 2\n_made[g] = Made(g)\ncache._made[h] += 1\n"

    assert stored(text) == [(MINE, 4), (MINE, 5)]
    assert stored(text, "WeakKeyDictionary.__copy__") == [(LIBRARY, 3)]
    assert stored("_made = WeakKeyDictionary()\nprint(_made[g])\n") == [(LIBRARY, 3)]


def test_a_handler_that_is_added_to_a_logger_is_told_where_it_is_added() -> None:
    logging = "/usr/lib/python3.12/logging/__init__.py"
    stored = SourceLocation(logging, 1653, "Logger.addHandler")
    reference = HoldingReference("attribute", "handlers", "log.handlers[*]", sites=(stored,))
    mine = "import logging\n\n\ndef open(log, handler):\n    log.addHandler(handler)\n"

    sources = {logging: SourceFile(logging, "", "library"), MINE: SourceFile(MINE, mine)}
    found = by_the_users_call(reference, sources)

    assert (found.name, found.sites, found.library_sites) == (
        "addHandler",
        (SourceLocation(MINE, 5, "open"),),
        (stored,),
    )


def test_calls_that_a_loop_runs_come_first() -> None:
    """`prepare` is called once for the model and, every few steps, for a new optimizer."""
    text = (
        "import weakref\n\n\nweakref.finalize(engine, print)\nfor _ in steps:\n    if done:\n"
        "        weakref.finalize(engine, flush)\n"
    )

    assert [site.line for site in located("finalize.__init__", text).sites] == [7, 4]


def test_calls_that_give_only_constants_come_last() -> None:
    """`put(STOP)` ends a queue's consumer, which is no memory that the queue keeps, though a loop runs it."""
    text = (
        "import weakref\n\n\nfor name in names:\n    weakref.finalize(STOP, None)\n"
        "weakref.finalize(STOP, flush)\nweakref.finalize(name=config.DONE)\nweakref.finalize()\n"
    )

    assert [site.line for site in located("finalize.__init__", text).sites] == [6, 8, 5, 7]


def test_of_several_calls_the_one_that_gives_most_comes_first() -> None:
    """`add_event_handler(event, function)` once, and with each step's outputs in every turn."""
    text = "import weakref\n\n\nweakref.finalize(engine, flush)\nweakref.finalize(engine, flush, outputs)\n"

    assert [site.line for site in located("finalize.__init__", text).sites] == [5, 4]


METERED = """
from transformers import Cache
class Metered(Cache):
    def __init__(self):
        super().__init__(factory=partial(Layer, self.account))
    def account(self, change):
        self.held += change
"""


@pytest.mark.parametrize(
    ("function", "text", "line"),
    [
        ("Cache.__init__", METERED, 5),
        ("Cache.__init__", METERED.replace("super()", "Cache"), 5),
        ("Cache.__init__", METERED.replace("factory=", "layers="), 3),
        ("Cache.__init__", METERED.replace("(Cache)", "(Pool)"), 3),
        ("Cache.fill", METERED, 3),
    ],
)
def test_what_a_derived_class_gives_the_librarys_constructor_is_the_users(function: str, text: str, line: int) -> None:
    inside = SourceLocation(LIBRARY, 3, function)
    reference = HoldingReference("attribute", "factory", "Metered.factory", "mine.Metered", sites=(inside,))

    found = by_the_users_call(reference, {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, text)})

    assert (found.name, [(site.file, site.line) for site in found.sites]) == (
        "factory",
        [(MINE if line == 5 else LIBRARY, line)],
    )


HANDLER = """
class EpochHandler(logging.handlers.MemoryHandler):
    def emit(self, record):
        super().emit(record)
def step(log, batch):
    log.warning("batch %d left out", batch, exc_info=True)
"""


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        (HANDLER, "exc_info", [6]),
        (HANDLER.replace("logging.handlers.MemoryHandler", "Meter"), "buffer", []),
        (HANDLER.replace(", exc_info=True", ""), "buffer", []),
    ],
)
def test_records_in_a_handler_of_the_users_own_are_told_by_the_call_that_logs_them(
    text: str, name: str, lines: list[int]
) -> None:
    """What fills it is a statement of the standard library's, which no recording has."""
    reference = HoldingReference("attribute", "buffer", "handler.buffer[*]", "runlog.EpochHandler", element=True)

    found = by_the_users_call(reference, {MINE: SourceFile(MINE, text)})

    assert (found.name, [site.line for site in found.sites]) == (name, lines)
