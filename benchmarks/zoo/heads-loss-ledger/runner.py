from collections import ChainMap, OrderedDict


class Ledger:
    """One column per quantity, one row per iteration."""

    def __init__(self):
        self.rows = []

    def write(self, iteration, log_vars, **extra):
        self.rows.append(ChainMap({"iter": iteration}, extra, log_vars))

    def mean(self, key, last=10):
        picked = [row[key].item() if hasattr(row[key], "item") else row[key] for row in self.rows[-last:]]
        return sum(picked) / len(picked)

    def line(self):
        return "  ".join(f"{key} {self.mean(key):.4f}" for key in sorted(self.rows[-1]) if key != "iter")


def parse_losses(log_vars):
    total = sum(value for key, value in log_vars.items() if "loss" in key)
    return total, OrderedDict(log_vars)


class IterRunner:
    def __init__(self, model, optimizer, ledger):
        self.model, self.optimizer, self.ledger = model, optimizer, ledger

    def run(self, source, iterations):
        for iteration in range(1, iterations + 1):
            total, log_vars = parse_losses(self.model(*next(source)))
            self.optimizer.zero_grad()
            total.backward()
            self.optimizer.step()
            self.ledger.write(iteration, log_vars, lr=self.optimizer.param_groups[0]["lr"])
            if iteration % 10 == 0:
                print(iteration, self.ledger.line())
