import ast


class Shell:
    """Runs cells in one namespace and keeps what the last expression of each gave, as notebooks do."""

    def __init__(self):
        self.space = {"__name__": "__cells__", "Out": {}, "_": None}
        self.count = 0

    def display(self, value):
        if isinstance(value, float):
            print(f"Out[{self.count}]: {value:.4f}")

    def remember(self, value):
        self.space["Out"][self.count] = value
        self.space["_"] = value

    def run_cell(self, text):
        self.count += 1
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<cell {self.count}>", "exec"), self.space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"<cell {self.count}>", "eval"), self.space)
            if value is not None:
                self.remember(value)
                self.display(value)
