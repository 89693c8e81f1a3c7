import torch
from reporter import SubReporter
from train import train_one_epoch


class RunningReporter(SubReporter):
    def register(self, **values):
        for key, value in values.items():
            if key not in self.stats:
                self.stats[key] = torch.zeros(2)
            self.stats[key] += torch.stack([value, torch.ones(())])

    def log_message(self):
        return " ".join(f"{key}={float(pair[0] / pair[1]):.3f}" for key, pair in self.stats.items())


if __name__ == "__main__":
    train_one_epoch(RunningReporter())
