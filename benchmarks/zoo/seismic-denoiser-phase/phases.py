import torch
from torch.nn import functional


class Phase:
    name, steps = "", 0

    def __init__(self, stations):
        self.stations = stations
        self.net = None

    def loss(self):
        raise NotImplementedError

    def close(self):
        self.net = None


class Denoise(Phase):
    name, steps = "denoise", 16

    def loss(self):
        rows = self.stations.rows()
        return functional.l1_loss(self.net(self.stations.noisy[rows]), self.stations.clean[rows])

    @torch.no_grad()
    def close(self):
        self.stations.noisy = torch.cat([self.net(part) for part in self.stations.noisy.split(24)])
        super().close()


class Pick(Phase):
    name, steps = "pick", 44

    def loss(self):
        rows = self.stations.rows()
        weight = torch.tensor([1.0, 40.0, 40.0])
        return functional.cross_entropy(self.net(self.stations.noisy[rows]), self.stations.labels[rows], weight)


class Curriculum:
    """One phase after another; when a phase is over its net goes and its products stay."""

    def __init__(self, stations, builders, monitor):
        self.stations, self.builders, self.monitor = stations, builders, monitor

    def run(self):
        for phase_class, builder in self.builders:
            phase = phase_class(self.stations)
            phase.net = builder()
            self.monitor.follow(phase.name, phase.net)
            self.train(phase)
            phase.close()

    def train(self, phase):
        optimizer = torch.optim.AdamW(phase.net.parameters(), lr=2e-3)
        for _ in range(phase.steps):
            optimizer.zero_grad()
            loss = phase.loss()
            loss.backward()
            optimizer.step()
            self.monitor.after_step()
        optimizer.zero_grad()
        print(phase.name, f"{loss.item():.4f}")
