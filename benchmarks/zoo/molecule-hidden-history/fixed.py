import torch
from smoothing import Smoothness
from train import main


class SpreadOnly(Smoothness):
    @torch.no_grad()
    def __call__(self, step, result, loss):
        self.history = [*self.history, [h.std(1).mean().item() for h in result.hidden]][-self.every :]
        if step % self.every == 0:
            print(f"{step:3d} loss {loss:.3f} spread", " ".join(f"{x:.3f}" for x in self.spread()))

    def spread(self):
        return [sum(layer) / len(layer) for layer in zip(*self.history)]


if __name__ == "__main__":
    main(SpreadOnly)
