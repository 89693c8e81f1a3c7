import code
import sys
import traceback


class Workbench(code.InteractiveInterpreter):
    """Runs the cells of an analysis one after the other; a cell that fails does not stop those after it."""

    def __init__(self):
        super().__init__({"__name__": "workbench"})
        self.failed = []

    def report(self):
        kind, value = sys.exc_info()[:2]
        self.write("".join(traceback.format_exception_only(kind, value)))

    def showtraceback(self):
        self.failed.append(self.current)
        super().showtraceback()

    def write(self, text):
        print(text.strip().splitlines()[-1])

    def run(self, cells):
        for self.current, source in enumerate(cells):
            compiled = self.compile(source, f"cell {self.current}", "exec")
            self.runcode(compiled)
        print("failed cells:", self.failed)
