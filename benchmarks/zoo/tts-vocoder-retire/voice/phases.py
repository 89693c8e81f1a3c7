"""Two phases: loudness calibration through the vocoder, then mel regression without it."""

import torch
import torch.nn.functional as F


class Calibration:
    """Sets the mel level so that the vocoder's output has the wanted loudness."""

    def __init__(self, vocoder, guard, target=0.05):
        self.vocoder = vocoder
        self.guard = guard
        self.target = target

    @torch.no_grad()
    def run(self, acoustic, utterances, rounds=3):
        self.guard.enter("vocoder", self.vocoder)
        for _ in range(rounds):
            ids, _ = utterances.draw(2)
            loudness = self.vocoder(acoustic(ids)).square().mean().sqrt()
            acoustic.level.add_((self.target - loudness).clamp(-0.5, 0.5))
        self.guard.verify("vocoder", self.vocoder)
        self.vocoder.to("meta")
        return loudness.item()


class MelRegression:
    def __init__(self, acoustic, lr=2e-3):
        self.acoustic = acoustic
        self.optimizer = torch.optim.Adam(acoustic.parameters(), lr=lr)

    def step(self, ids, mel):
        loss = F.l1_loss(self.acoustic(ids), mel)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
