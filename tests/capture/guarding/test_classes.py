from __future__ import annotations

import collections
import collections.abc
import types
from typing import Any, NoReturn

from tenure.capture.guarding import classes


def _refuse(*args: object) -> NoReturn:
    raise RuntimeError("this ran code of the program's")


class _Base:
    kept = _refuse


class Refusing(type):
    """Raises whatever is asked of its classes."""

    __getattribute__ = __hash__ = __eq__ = __instancecheck__ = __subclasscheck__ = __dir__ = _refuse
    __mro__ = __name__ = __module__ = __dictoffset__ = property(_refuse)  # type: ignore[assignment]


Silent: Any = Refusing("Silent", (_Base,), {"__slots__": ("slot",), "__qualname__": "place.Silent"})


def test_a_class_is_read_past_its_metaclass() -> None:
    assert (classes.name_of(Silent), classes.qualname_of(Silent)) == ("Silent", "place.Silent")
    assert list(map(id, classes.bases_of(Silent))) == [id(Silent), id(_Base), id(object)]
    assert "slot" in classes.own_of(Silent)
    assert classes.found_in(Silent, "kept") is _refuse
    assert classes.found_in(Silent, "gone") is None
    assert classes.dict_offset_of(Silent) != 0


def test_the_module_is_what_stands_in_the_class_where_that_is_text() -> None:
    placed, other = (
        type("Placed", (), {"__module__": "net.parts"}),
        type("Other", (), {"__module__": property(_refuse)}),
    )

    found = [classes.module_of(cls) for cls in (Silent, placed, other, dict, collections.deque)]

    assert found == [__name__, "net.parts", "", "builtins", "collections"]


def test_a_class_is_made_from_its_bases_also_where_these_are_abstract() -> None:
    abstract = collections.abc.Sized

    found = [classes.is_made_from(cls, base) for cls, base in ((Silent, _Base), (Silent, abstract), (Silent, dict))]

    assert found == [True, False, False]


def test_a_module_that_loads_lazily_is_not_made_to_and_nothing_else_is_asked() -> None:
    class Lazy(types.ModuleType):
        __getattribute__ = _refuse  # type: ignore[assignment]

    module = types.ModuleType.__new__(Lazy)
    types.ModuleType.__init__(module, "heavy")
    assert classes.globals_of(module)["__name__"] == "heavy"
    assert classes.globals_of(Silent) == {}
