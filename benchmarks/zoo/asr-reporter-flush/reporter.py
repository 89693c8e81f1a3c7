import torch


class SubReporter:
    def __init__(self, log_interval=12):
        self.log_interval = log_interval
        self.stats = {}
        self.iterations = 0

    def register(self, **values):
        for key, value in values.items():
            self.stats.setdefault(key, []).append(value)

    def next(self):
        self.iterations += 1
        if self.iterations % self.log_interval == 0:
            print(self.iterations, self.log_message())
            self.stats = {}

    def log_message(self):
        means = {key: torch.stack(values).mean().item() for key, values in self.stats.items()}
        return " ".join(f"{key}={value:.3f}" for key, value in means.items())
