"""A small stand-in for an editor's cell runner: `# %%` starts a cell, one namespace for all of them."""

import code
import contextlib
import io
import re
from pathlib import Path


def split_cells(text):
    starts = [match.start() for match in re.finditer(r"^# %%", text, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(text)]):
        yield text.count("\n", 0, start), text[start:end]


class Session:
    def __init__(self, **names):
        self.interpreter = code.InteractiveInterpreter({"__name__": "__console__", **names})
        self.failed = []

    def after_cell(self, number, complaint):
        if complaint:
            self.failed.append((number, complaint.strip().splitlines()[-1]))

    def run_file(self, path):
        path = Path(path)
        for number, (line, source) in enumerate(split_cells(path.read_text()), 1):
            compiled = compile("\n" * line + source, str(path), "exec")
            complaint = io.StringIO()
            with contextlib.redirect_stderr(complaint):
                self.interpreter.runcode(compiled)
            self.after_cell(number, complaint.getvalue())
        return self.interpreter.locals
