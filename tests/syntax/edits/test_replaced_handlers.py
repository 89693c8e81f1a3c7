from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.replaced_handlers import give_back_former

GUARD = """
class Guard:
    def begin(self, save):
        def report(kind, value, traceback):  # here
            save()
        {replaced}
        return self

    def {end}(self):
        self.over = True
"""


def changed(replaced: str, end: str = "release") -> list[str]:
    source = source_of(GUARD.format(replaced=replaced, end=end))
    return changes(source, give_back_former(source, line_of(source)))


def test_the_former_of_a_signal_is_kept_and_given_back() -> None:
    assert changed("signal.signal(signal.SIGTERM, report)") == [
        "- signal.signal(signal.SIGTERM, report)",
        "self._former = signal.signal(signal.SIGTERM, report)",
        "signal.signal(signal.SIGTERM, self._former)",
    ]


@pytest.mark.parametrize("hook", ["sys.excepthook", "threading.excepthook", "warnings.showwarning"])
def test_a_hook_of_the_interpreter_is_kept_and_given_back(hook: str) -> None:
    assert changed(f"{hook} = report") == [f"self._former = {hook}", f"{hook} = self._former"]


@pytest.mark.parametrize(
    ("replaced", "end"),
    [
        ("sys.excepthook = report", "write"),
        ("sys.stdout = report", "release"),
        ("sys.excepthook = threading.excepthook = report", "release"),
        ("sys.excepthook = report; threading.excepthook = report", "release"),
        ("former = signal.signal(signal.SIGTERM, report)", "release"),
    ],
)
def test_what_has_no_end_or_is_kept_already_or_is_several_stays(replaced: str, end: str) -> None:
    assert changed(replaced, end) == []


def test_a_context_manager_gives_back_when_its_block_ends() -> None:
    source = source_of(
        """
        @contextmanager
        def saved_on_term(model):
            def save(number, frame):
                write(model)
            signal.signal(signal.SIGTERM, save)  # here
            yield model
        """
    )

    assert changes(source, give_back_former(source, line_of(source))) == [
        "- signal.signal(signal.SIGTERM, save)  # here",
        "- yield model",
        "former = signal.signal(signal.SIGTERM, save)  # here",
        "try:",
        "yield model",
        "finally:",
        "signal.signal(signal.SIGTERM, former)",
    ]


def test_a_context_variable_gets_its_former_value_back() -> None:
    text = """
    current = ContextVar("current", default=None)
    @contextmanager
    def span(name):
        opened = Span(name, current.get())
        current.set(opened)  # here
        yield opened
    """
    source, other = source_of(text), source_of(text.replace("ContextVar", "Setting"))

    assert changes(source, give_back_former(source, line_of(source)))[2:] == [
        "former = current.set(opened)  # here",
        "try:",
        "yield opened",
        "finally:",
        "current.reset(former)",
    ]
    assert give_back_former(other, line_of(other)) == ()
