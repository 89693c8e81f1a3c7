import torch
from delays import DelayNet, days
from modes import jobs


class ForecastDesk:
    """Keeps the newest forecasts on show and says how far they moved."""

    def __init__(self, network, watched):
        self.network = network
        self.watched = watched
        self.forecasts = {}
        self.history = []

    def refresh(self):
        before = self.forecasts
        self.forecasts, worst = jobs["noon"](self.network, self.watched)
        moved = [(self.forecasts[day] - before[day]).abs().mean().item() for day in before]
        self.history.append(sum(moved) / max(1, len(moved)))
        return max(delays.max().item() for delays in worst.values())


def main(steps=42):
    torch.manual_seed(320)
    network = DelayNet()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    names = ("Monday", "Friday")
    desk = ForecastDesk(network, {name: seen for name, (seen, _) in zip(names, days(2, seed=322))})
    for step, (seen, delays) in enumerate(days(steps)):
        loss = jobs["fit"](network, optimizer, seen, delays)
        worst = desk.refresh()
        if step % 6 == 0:
            print(f"day {step:2d} loss {loss:.4f} longest delay {worst:.2f} moved {desk.history[-1]:.3f}")


if __name__ == "__main__":
    main()
