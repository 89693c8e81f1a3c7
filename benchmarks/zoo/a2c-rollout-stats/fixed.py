from stats import Stats
from train import main


class RunningStats(Stats):
    def track(self, **values):
        for name, value in values.items():
            total, count = self.pending.get(name, (0.0, 0))
            self.pending[name] = (total + value.detach().sum().item(), count + value.numel())
        self.updates += 1
        if self.updates % self.every == 0:
            self.flush()

    def flush(self):
        row = {name: total / count for name, (total, count) in self.pending.items()}
        self.pending.clear()
        print(f"update {self.updates:3d}", " ".join(f"{name}={value:.4f}" for name, value in row.items()))


if __name__ == "__main__":
    main(RunningStats())
