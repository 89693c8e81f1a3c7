from __future__ import annotations

import sysconfig
import warnings
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import Binding, Call, bindings, calls


def found(text: str) -> list[tuple[int, str, str, str, str, bool]]:
    """Line, function, kind, receiver and name joined, value, in a loop; definitions and parameters left out."""
    return [
        (b.line, b.function, b.kind, f"{b.receiver}.{b.name}" if b.receiver else b.name, b.value_text, b.in_loop)
        for b in bindings(SourceFile("a.py", dedent(text)))
        if b.kind not in ("definition", "parameter")
    ]


M = "<module>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f()", [(1, M, "assign", "x", "f()", False)]),
        ("x = y = 1", [(1, M, "assign", "x", "1", False), (1, M, "assign", "y", "1", False)]),
        ("a, *b = f()", [(1, M, "unpack", "a", "f()", False), (1, M, "unpack", "b", "f()", False)]),
        ("a, b = c, d", [(1, M, "unpack", "a", "c", False), (1, M, "unpack", "b", "d", False)]),
        ("f(x := 1)", [(1, M, "walrus", "x", "1", False)]),
        ("x: int = 1", [(1, M, "annotated", "x", "1", False)]),
        ("x: int", []),
        ("x += y", [(1, M, "augmented", "x", "y", False)]),
        ("with a() as b: pass", [(1, M, "with", "b", "a()", False)]),
        ("for i in r: x = i", [(1, M, "for", "i", "r", True), (1, M, "assign", "x", "i", True)]),
        ("import a.b, c as d", [(1, M, "import", "a", "a.b", False), (1, M, "import", "d", "c", False)]),
        ("from .a import b", [(1, M, "import", "b", ".a.b", False)]),
        ("del x, a.b", [(1, M, "del", "x", "", False), (1, M, "del", "a.b", "", False)]),
        ("a.b.c = 1", [(1, M, "attribute", "a.b.c", "1", False)]),
        ("a.b += 1", [(1, M, "augmented", "a.b", "1", False)]),
        ('setattr(a, "b", 1)', [(1, M, "attribute", "a.b", "1", False)]),
        ('object.__setattr__(a, "b", 1)', [(1, M, "attribute", "a.b", "1", False)]),
        ('a.__dict__["b"] = 1', [(1, M, "attribute", "a.b", "1", False)]),
        ('vars(a)["b"] = 1', [(1, M, "attribute", "a.b", "1", False)]),
        ('globals()["b"] = 1', [(1, M, "assign", "b", "1", False)]),
        ("d[k] = v", [(1, M, "item", "d", "v", False)]),
        ("a.d[k][j] = v", [(1, M, "item", "a.d", "v", False)]),
        ("a.d[k].append(v)", [(1, M, "grow", "a.d", "v", False)]),
        ("d.setdefault(k, []).append(v)", [(1, M, "grow", "d", "v", False), (1, M, "grow", "d", "[]", False)]),
        ('getattr(a, "b").append(v)', [(1, M, "grow", "a.b", "v", False)]),
        ("heapq.heappush(h, v)", [(1, M, "grow", "h", "v", False)]),
        ("push(h, v)", [(1, M, "grow", "h", "v", False)]),
        ("a.m.lerp_(v, 0.1)", [(1, M, "inplace", "a.m", "", False)]),
        ("m.mul_(d).add_(v)", [(1, M, "inplace", "m", "", False), (1, M, "inplace", "m", "", False)]),
        ("f(m).mul(d).add_(v)", []),
        ("m.zero_()", []),
        ("a.register_thing(v)", [(1, M, "grow", "a", "v", False)]),
        ("a.register_forward_hook(h)", [(1, M, "hook", "a.h", "h", False)]),
        (
            "a.register_hook(partial(h, k=1))",
            [(1, M, "hook", "a.h", "partial(h, k=1)", False), (1, M, "partial", "h", "partial(h, k=1)", False)],
        ),
        ("a.saved_tensors_hooks(p, u)", [(1, M, "hook", "a.u", "u", False)]),
        ("saved_tensors_hooks(p, u)", [(1, M, "hook", "u", "u", False)]),
        ("register_module_forward_hook(h)", [(1, M, "hook", "h", "h", False)]),
        ("t.register_hook(lambda g: g)", [(1, M, "hook", "t.<lambda>", "lambda g: g", False)]),
        ("o.register_step_post_hook(h)", [(1, M, "hook", "o.h", "h", False)]),
        ("signal.signal(signal.SIGTERM, h)", [(1, M, "hook", "signal.h", "h", False)]),
        ('m.register_buffer("b", t)', [(1, M, "attribute", "m.b", "t", False)]),
        ("p = functools.partial(f, x)", [(1, M, "partial", "f", "functools.partial(f, x)", False)]),
        ("@lru_cache\ndef f(): ...", [(2, M, "cache", "f", "", False)]),
        ("g = cache(f)", [(1, M, "cache", "f", "cache(f)", False), (1, M, "assign", "g", "cache(f)", False)]),
        ("def f(a, b=[]): ...", [(1, M, "default", "b", "[]", False)]),
        ("class C:\n  x = []", [(2, "C", "class", "x", "[]", False)]),
        ("@dataclass\nclass C:\n  x: int", [(3, "C", "field", "x", "", False)]),
        ("class C(NamedTuple):\n  x: int = 1", [(2, "C", "field", "x", "1", False)]),
        ("[x for x in y]", [(1, M, "comprehension", "x", "y", True)]),
        ("[y.append(x) for x in z]", [(1, M, "comprehension", "x", "z", True), (1, M, "grow", "y", "x", True)]),
        (
            "while True:\n  d.add(\n    x)\n",
            [(2, M, "grow", "d", "x", True)],
        ),
    ],
)  # fmt: skip
def test_each_form_of_binding(text: str, expected: list[tuple[int, str, str, str, str, bool]]) -> None:
    assert [item for item in found(text) if not (item[2] == "assign" and item[3] == "p")] == expected


def test_an_inner_function_does_not_inherit_the_loop_around_it() -> None:
    assert found("for a in b:\n  def f():\n    x = 1\n") == [
        (1, M, "for", "a", "b", True),
        (3, "f", "assign", "x", "1", False),
    ]


def test_yield_inside_a_loop_suspends_a_frame() -> None:
    assert found("def f():\n  yield 1\n  while a:\n    yield x\n") == [(4, "f", "yield", "", "x", True)]


def test_closures_are_found_at_the_inner_functions_line() -> None:
    text = """\
        def f(a):
            b = 1
            def g():
                c = a
                return [b for _ in c]
            return lambda: b
        """

    assert [item for item in found(text) if item[2] == "closure"] == [
        (3, "f", "closure", "a", "g", False),
        (3, "f", "closure", "b", "g", False),
        (6, "f", "closure", "b", "<lambda>", False),
    ]


def test_the_scope_in_which_each_variable_lives() -> None:
    text = """\
        rows = []
        def f():
            global last
            last = 1
            kept = []
            def g(x):
                nonlocal kept
                kept += [x]
                rows.append(x)
                local = x
        """
    owners = [
        (b.line, b.name, b.owner)
        for b in bindings(SourceFile("a.py", dedent(text)))
        if b.kind in ("assign", "augmented", "grow")
    ]

    assert owners == [
        (1, "rows", M),
        (4, "last", M),
        (5, "kept", "f"),
        (8, "kept", "f"),
        (9, "rows", M),
        (10, "local", "f.<locals>.g"),
    ]


def test_stores_on_the_methods_own_object() -> None:
    text = """\
        class C:
            def f(this, other):
                this.a = 1
                other.a = 1
                def g():
                    this.b = 1
            @staticmethod
            def h(x):
                x.a = 1
            @classmethod
            def i(cls):
                cls.a = C.a = 1
        """

    own = [(b.line, b.class_name, b.on_self) for b in bindings(SourceFile("a.py", dedent(text))) if b.receiver]

    assert own == [
        (3, "C", True),
        (4, "C", False),
        (6, "C", True),
        (9, "C", False),
        (12, "C", True),
        (12, "C", True),
    ]


def test_a_binding_in_full() -> None:
    text = "class C:\n    def f(self, k):\n        self.d['a'] = \\\n            [k]\n"

    assert bindings(SourceFile("a.py", text))[-1] == Binding(
        line=3,
        end_line=4,
        function="C.f",
        kind="item",
        name="d",
        receiver="self",
        value_text="[k]",
        in_loop=False,
        method="item",
        value_kind="display",
        owner="C.f",
        class_name="C",
        on_self=True,
        key="'a'",
    )


def test_kinds_of_values_at_sight() -> None:
    text = "a=None;b=-1;c=[];d=deque(maxlen=3);e=[f];g=[h for h in i];j=k();l=m;n=list(o);p=defaultdict(list)"

    kinds = {b.name: b.value_kind for b in bindings(SourceFile("a.py", text)) if b.kind == "assign"}

    assert kinds == {
        "a": "none",
        "b": "constant",
        "c": "empty",
        "d": "empty",
        "e": "display",
        "g": "comprehension",
        "j": "call",
        "l": "other",
        "n": "call",
        "p": "empty",
    }


def test_calls_that_pass_a_name_on() -> None:
    text = "def f(a):\n  for b in a:\n    m.store(a, 1, to=b.c)\n    g(1)\n"

    assert calls(SourceFile("a.py", text)) == (
        Call(3, 3, "f", "m.store", ((0, "a"), (1, ""), ("to", "b.c")), "", "", ("f", "", "f"), True),
    )


def test_calls_of_classes_whatever_they_are_given() -> None:
    text = "def f(a):\n  return out.Output(logits=g(a)), Empty(), g(1)\n"

    assert calls(SourceFile("a.py", text)) == (
        Call(2, 2, "f", "out.Output", (("logits", ""),), "", "", ("",)),
        Call(2, 2, "f", "g", ((0, "a"),), "", "", ("f",)),
    )


def test_text_is_cut_by_characters_not_bytes() -> None:
    assert found("ü = 'öä'; x = ü.ß") == [
        (1, M, "assign", "ü", "'öä'", False),
        (1, M, "assign", "x", "ü.ß", False),
    ]


def test_a_form_feed_is_no_end_of_line() -> None:
    assert found("a = 1\n\f\nb = 'x\\\n y'\nc = d\n")[-1] == (5, M, "assign", "c", "d", False)


def test_a_long_elif_chain_is_no_recursion() -> None:
    text = "if a == 0:\n  x = 0\n" + "".join(f"elif a == {n}:\n  x = {n}\n" for n in range(1, 500))

    assert len(found(text)) == 500


def test_a_long_sum_is_no_recursion() -> None:
    assert len(found("x = " + " + ".join(f"f{n}()" for n in range(900)))) == 1


def test_what_is_nested_too_deeply_is_a_source_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("tenure.syntax.text.binding_walk.BindingWalk.module", too_deep)

    with pytest.raises(SourceError, match=r"^deep\.py: nested too deeply to be read$"):
        bindings(SourceFile("deep.py", "x = 1"))


STDLIB = Path(sysconfig.get_path("stdlib"))


def read_all(paths: list[Path]) -> list[tuple[str, Binding]]:
    """Bindings whose name does not occur in the lines they are said to span."""
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            source = SourceFile(str(path), path.read_text(encoding="utf-8", errors="replace"), "library")
            lines = source.text.split("\n")
            for b in bindings(source):
                text = "\n".join(lines[b.line - 1 : b.end_line])
                if b.kind not in ("closure", "yield", "ctx") and b.name.strip("<>") not in text:
                    wrong.append((path.name, b))
            calls(source)
    return wrong


@pytest.mark.slow
def test_torch_optimizers_and_modules_are_read_without_exception() -> None:
    torch = find_spec("torch")
    root = Path(torch.origin).parent if torch is not None and torch.origin is not None else STDLIB / "asyncio"
    paths = [*(root / "optim").rglob("*.py"), *(root / "nn" / "modules").rglob("*.py"), *STDLIB.glob("a*.py")]

    assert read_all(sorted(paths)) == []


@pytest.mark.slow
def test_the_standard_library_is_read_without_exception() -> None:
    tests = {"test", "lib2to3", "site-packages", "idlelib"}  # bad syntax on purpose, and other people's
    paths = [path for path in STDLIB.rglob("*.py") if not tests & set(path.parts)]

    assert read_all(sorted(paths)) == []
