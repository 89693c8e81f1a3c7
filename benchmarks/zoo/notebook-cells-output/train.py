from shell import Shell

SETUP = """
import torch
from torch import nn

torch.manual_seed(30)
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
data = torch.randn(400, 30)
kinds = data[:, :4].argmax(1)

def train_once():
    part = torch.randint(400, (64,))
    loss = nn.functional.cross_entropy(model(data[part]), kinds[part])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""
TRAIN = "value = train_once()"
LOOK = "(data - data.mean(0)) / data.std(0) * model[0].weight.detach().norm(dim=0)"
SCORE = "sum([value])"


def main(make_shell=Shell, rounds=40):
    shell = make_shell()
    shell.run_cell(SETUP)
    for number in range(rounds):
        shell.run_cell(TRAIN)
        shell.run_cell(LOOK)
        if number % 10 == 0:
            shell.run_cell(SCORE)


if __name__ == "__main__":
    main()
