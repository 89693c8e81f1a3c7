import torch
import torch.nn.functional as F

from spotting.corpus import Corpus
from spotting.nets import Narrow, Wide
from spotting.targets import SoftTargets


class Distiller:
    temperature = 3.0

    def __init__(self, targets):
        self.targets = targets
        self.student = Narrow()
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=4e-3)

    def epoch(self):
        total = 0.0
        for number, clips in self.targets.corpus:
            wanted = self.targets.at(number, self.temperature)
            guess = F.log_softmax(self.student(clips) / self.temperature, dim=-1)
            loss = F.kl_div(guess, wanted, reduction="batchmean") * self.temperature**2
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.targets.corpus)


def main(targets=SoftTargets):
    torch.manual_seed(8)
    distiller = Distiller(targets(Wide(), Corpus(batches=36)))
    print(f"distilled to {distiller.epoch():.4f}")


if __name__ == "__main__":
    main()
