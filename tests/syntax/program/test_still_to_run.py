from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.program.program import Program
from tenure.syntax.program.still_to_run import Running, StillToRun, can_be_told

TRAIN = """from torch.utils.data import Dataset

class Clips(Dataset):
    def __init__(self, waves):
        self.waves = waves

    def tokenize(self, codec):
        self.codes = codec(self.waves)

    @property
    def seconds(self):
        return len(self.waves)

    def __getitem__(self, at):
        return self.codes[at]

def update(model, codes):
    model(codes).backward()  # update

def report(clips):
    print(clips.seconds)

def main():
    clips = Clips(synth())
    clips.tokenize(Codec())
    for codes in clips:
        update(Model(), codes)  # loop
    report(clips)

if __name__ == "__main__":
    main()  # top
"""


def at(text: str, *marks: str) -> list[Running]:
    source = SourceFile("train.py", text)
    lines = text.splitlines()
    return [Running(source, next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))) for mark in marks]


def may_run(text: str, *marks: str, others: tuple[SourceFile, ...] = ()) -> set[str]:
    """The functions and methods that may run from their first line on."""
    running = at(text, *marks)
    program = Program([running[0].source, *others])
    still = StillToRun(program, running)
    return {each.qualname for each in program.functions[1:] if still.may_run(each, getattr(each.node, "lineno", 0))} - {
        "<module>"
    }


def test_what_ran_before_the_loop_runs_no_more_and_what_the_rest_names_may() -> None:
    assert may_run(TRAIN, "update", "loop", "top") == {"Clips.__getitem__", "Clips.seconds", "report", "update"}


def test_callers_that_no_census_saw_go_on_after_their_call() -> None:
    assert may_run(TRAIN, "update") == may_run(TRAIN, "update", "loop", "top")


def test_a_function_that_runs_may_run_on_from_its_line_alone() -> None:
    running = at(TRAIN, "update", "loop", "top")
    program = Program([running[0].source])
    (main,) = program.names.functions_named["main"]
    still = StillToRun(program, running)
    first = main.node.lineno

    assert [still.may_run(main, first + line) for line in range(1, 6)] == [False, False, True, True, True]


def test_a_call_that_is_named_in_a_later_turn_of_the_loop_may_run_again() -> None:
    again = TRAIN.replace(
        "        update(Model(), codes)  # loop", "        update(Model(), codes)  # loop\n        main()"
    )

    assert {"main", "Clips.tokenize", "Clips.__init__"} <= may_run(again, "update", "loop", "top")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clips.tokenize(Codec())", "clips.on_start(clips.tokenize)"),
        ("clips.tokenize(Codec())", "later(lambda: clips.tokenize(Codec()))"),
        ("clips.tokenize(Codec())", "getattr(clips, 'tokenize')(Codec())"),
        ("    def tokenize", "    @hook.register\n    def tokenize"),
        ("Dataset):", "LightningDataModule):"),
        ("    report(clips)", "    clips.tokenize(Codec())"),
        ("def report(clips):", "def report(clips):\n    clips.tokenize(Codec())"),
        ("        return self.codes[at]", "        return self.codes[at] if self.codes else self.tokenize(None)"),
        ("torch.utils.data", "torch_geometric.data"),
        ("Dataset):", "made_by(Dataset)):"),
        ("    report(clips)", "    match clips:\n        case Clips(tokenize=later):\n            later(None)"),
    ],
    ids=[
        "handed on", "in a lambda", "by a text", "registered", "of a base that may call it", "named after the loop",
        "named by what is", "named by what Python calls", "of another library's base of that name",
        "of a base that a call makes", "asked for by a pattern",
    ],
)  # fmt: skip
def test_whoever_may_have_a_function_may_call_it(old: str, new: str) -> None:
    assert "Clips.tokenize" in may_run(TRAIN.replace(old, new), "update", "loop", "top")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clips.tokenize(Codec())", "tokenize = clips.tokenize(Codec())\n    print(tokenize)"),
        ("    def tokenize", "    @torch.no_grad()\n    def tokenize"),
        ("def report(clips):", "def report(clips: Clips) -> Clips:"),
    ],
    ids=["a variable of its name", "under a decorator that only calls it", "in annotations"],
)
def test_what_only_looks_like_it_does_not(old: str, new: str) -> None:
    assert {"Clips.tokenize", "Clips.__init__"}.isdisjoint(may_run(TRAIN.replace(old, new), "update", "loop", "top"))


def test_a_function_that_is_handed_on_may_be_called_though_a_property_has_its_name() -> None:
    handed = TRAIN.replace("def main():", "def seconds(clips):\n    print(clips.waves)\n\ndef main():")
    handed = handed.replace("    clips.tokenize(Codec())", "    at_end(seconds)")

    assert "seconds" in may_run(handed, "update", "loop", "top")


def test_a_class_that_a_decorator_has_may_be_made_by_whoever_that_is() -> None:
    made = "class View:\n    def __init__(self, clips):\n        self.mean = clips.waves.mean()\n\ndef update"
    plain, kept = (TRAIN.replace("def update", f"{decorator}{made}") for decorator in ("@dataclass\n", "@registered\n"))

    assert "View.__init__" not in may_run(plain, "update", "loop", "top")
    assert "View.__init__" in may_run(kept, "update", "loop", "top")


def test_of_a_condition_that_runs_what_it_guards_is_still_to_run() -> None:
    tree = """class Tree:
    @property
    def fits(self):
        return self.depth < look()  # fits

    def grow(self):
        size = self.waves.sum()
        if self.fits:  # grow
            self.grow()

def main():
    Tree().grow()  # top
"""
    assert "Tree.grow" in may_run(tree, "fits", "grow", "top")


def test_a_generator_that_has_not_begun_is_at_its_decorator() -> None:
    stream = TRAIN.replace(
        "    def tokenize",
        "    @staticmethod  # waits\n    def stream(clips):\n        yield clips.waves\n\n    def tokenize",
    )

    assert "Clips.stream" in may_run(stream, "waits", "update", "loop", "top")
    assert "Clips.stream" not in may_run(stream, "update", "loop", "top")


def test_an_import_runs_the_packages_that_the_module_is_in() -> None:
    package = SourceFile("tools/__init__.py", "def begin():\n    pass\n\nbegin()\n")
    late = SourceFile("tools/late.py", "x = 1\n")

    def runs(statement: str) -> bool:
        asked = TRAIN.replace("    report(clips)", f"    {statement}")
        return "begin" in may_run(asked, "update", "loop", "top", others=(package, late))

    assert [runs(each) for each in ("import tools", "import tools.late", "from tools.late import x", "x = 1")] == [
        True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", True),
        ("model.eval()\nx = 1", True),
        ("eval(kind + '()')", False),
        ("globals()[kind]()", False),
        ("exec(compile(kind, '', 'exec'))", False),
        ("def (", False),
    ],
)
def test_names_say_what_may_run_where_all_can_be_parsed_and_nothing_goes_by_its_text(text: str, told: bool) -> None:
    running = at(TRAIN, "update", "loop", "top")
    program = Program([running[0].source, SourceFile("late.py", text)])
    nowhere = [*running, Running(SourceFile("gone.py", ""), 1)]

    assert [can_be_told(program, each) for each in (running, nowhere)] == [told, False]


def test_objects_made_by_a_class_named_later_run_what_makes_them_those_above_and_below_included() -> None:
    below = TRAIN.replace("def update", "class Long(Clips):\n    pass\n\ndef update")

    assert "Clips.__init__" not in may_run(below, "update", "loop", "top")
    assert "Clips.__init__" in may_run(below.replace("    report(clips)", "    Long(clips)"), "update", "loop", "top")
    assert "Clips.__init__" in may_run(below.replace("    report(clips)", "    type(clips)()"), "update", "loop", "top")


def test_a_function_that_goes_by_another_name_may_run_by_that() -> None:
    tools = SourceFile("tools.py", "def tokens(clips):\n    return clips.waves\n")
    by_its_own, by_another = (f"from tools import tokens{other}\n{TRAIN}" for other in ("", " as cut"))

    assert "tokens" not in may_run(by_its_own, "update", "loop", "top", others=(tools,))
    assert "tokens" in may_run(by_another, "update", "loop", "top", others=(tools,))


def test_a_file_that_may_yet_be_imported_runs_from_its_top() -> None:
    late = SourceFile("late.py", "from train import report\n\ndef begin():\n    pass\n\nbegin()\n")
    asked = TRAIN.replace("    report(clips)", "    import late")

    assert "begin" in may_run(asked, "update", "loop", "top", others=(late,))
    assert "begin" not in may_run(TRAIN, "update", "loop", "top", others=(late,))
