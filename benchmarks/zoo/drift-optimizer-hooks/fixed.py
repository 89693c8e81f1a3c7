import torch
from drift import DriftWatch
from train import main


class OneStageWatch(DriftWatch):
    handle = None

    def begin(self, stage):
        if self.handle is not None:
            self.handle.remove()
        start = [p.detach().clone() for p in self.weights()]

        @torch.no_grad()
        def measure(optimizer, args, kwargs):
            self.far[stage] = sum((p - s).square().sum() for p, s in zip(self.weights(), start)).sqrt().item()

        self.handle = self.optimizer.register_step_post_hook(measure)


if __name__ == "__main__":
    main(OneStageWatch)
