import ast

import cells


class Kernel:
    def __init__(self):
        self.user = {"In": [""], "Out": {}}

    def run(self, text):
        self.user["In"].append(text)
        number = len(self.user["In"]) - 1
        tree = ast.parse(text)
        tail = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<ipython-input-{number}>", "exec"), self.user)
        if tail is None:
            return None
        self.user["Out"][number] = self.user["_"] = eval(compile(tail, f"<ipython-input-{number}>", "eval"), self.user)
        return self.user["_"]


def main(rounds=50):
    kernel = Kernel()
    kernel.run(cells.SETUP)
    for number in range(rounds):
        loss = kernel.run(cells.TRAIN)
        if number % 10 == 0:
            print(loss, kernel.run(cells.EXPLAIN))


if __name__ == "__main__":
    main()
