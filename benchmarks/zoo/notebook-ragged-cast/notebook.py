import code


class Notebook(code.InteractiveInterpreter):
    """Runs cells one after another in one namespace, and goes on when a cell fails."""

    def __init__(self):
        super().__init__({"__name__": "notebook"})
        self.count = 0
        self.failed = []

    def write(self, data):
        self.failed.append(self.count)
        print(f"In [{self.count}] failed:", data.strip().splitlines()[-1])

    def run_cell(self, source):
        self.count += 1
        self.runsource(source, f"<cell {self.count}>", "exec")

    def run_all(self, cells):
        for source in cells:
            self.run_cell(source)
        return self.failed
