"""A minimal cell runner, for replaying analysis notebooks without a browser."""

import traceback
from dataclasses import dataclass, field


@dataclass
class CellResult:
    number: int
    ok: bool
    note: str = ""


@dataclass
class Shell:
    namespace: dict = field(default_factory=dict)
    results: list = field(default_factory=list)

    def run_cell(self, cell):
        number = len(self.results) + 1
        try:
            note = cell(self.namespace) or ""
            self.results.append(CellResult(number, True, str(note)))
        except BaseException as error:
            if isinstance(error, SystemExit):
                raise
            self.show(number, error)
        return self.results[-1]

    def show(self, number, error):
        """Print the error as an interactive prompt does."""
        last = traceback.format_exception_only(type(error), error)[-1].strip()
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(f"[{number}] {last or type(error).__name__} in {where.name}, line {where.lineno}")
        self.results.append(CellResult(number, False, last))
