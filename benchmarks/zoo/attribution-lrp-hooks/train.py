import torch
from attribution import relevance
from rules import Rule
from torch import nn


def main(template, batches=40):
    torch.manual_seed(17)
    model = nn.Sequential(nn.Linear(40, 120), nn.ReLU(), nn.Linear(120, 60), nn.ReLU(), nn.Linear(60, 5))
    model.requires_grad_(False)
    total = torch.zeros(40)
    for number in range(batches):
        total += relevance(model, torch.randn(128, 40), template)
        if number % 10 == 0:
            print(number, "most relevant column", int(total.argmax()))


if __name__ == "__main__":
    main(Rule())
