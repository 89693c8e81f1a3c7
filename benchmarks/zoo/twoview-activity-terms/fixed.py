import torch
from layers import Quiet
from train import main


class LastTermOnly(Quiet):
    def forward(self, x):
        out = torch.relu(self.inner(x))
        if self.training:
            self.terms = [self.weight * out.square().mean()]
        return out

    def term(self):
        return self.terms.pop()


if __name__ == "__main__":
    main(LastTermOnly)
