import torch
from arrivals import ArrivalNet, clean, reports
from recovery import Recovery, RunningAverages


class ArrivalTrainer:
    def __init__(self, averages):
        self.model = ArrivalNet()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.averages = averages

    def __call__(self, batch):
        positions, actual = batch
        minutes, spread = self.model(clean(positions))
        error = (minutes - actual).abs()
        loss = (error / spread + spread.log()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.averages.add(loss=loss, error=error.mean(), spread=spread.mean(), late=(minutes < actual).float().mean())
        return True


def main(steps=48):
    torch.manual_seed(270)
    recovery, averages = Recovery(), RunningAverages()
    fit = recovery.guard(lambda batch, trainer: trainer(batch))
    trainer, source = ArrivalTrainer(averages), reports()
    for step in range(1, steps + 1):
        fit(source, trainer)
        if step % 12 == 0:
            means = " ".join(f"{name} {mean:.3f}" for name, mean in averages.read().items())
            print(f"step {step} {means}; {recovery.errors['ReportGap']} gaps, last {recovery.last_error}")


if __name__ == "__main__":
    main()
