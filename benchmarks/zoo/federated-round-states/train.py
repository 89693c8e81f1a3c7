import copy

import torch
from server import Server
from torch import nn


def build():
    return nn.Sequential(nn.Linear(50, 120), nn.ReLU(), nn.Linear(120, 4))


class Client:
    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.randn(200, 50, generator=generator)
        self.y = torch.randint(4, (200,), generator=generator)

    def train(self, state):
        model = build()
        model.load_state_dict(state)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = nn.functional.cross_entropy(model(self.x), self.y)
        loss.backward()
        optimizer.step()
        return copy.deepcopy(model.state_dict())


def simulate(make_server=Server, rounds=30, clients=2):
    torch.manual_seed(0)
    server = make_server(build())
    members = [Client(seed) for seed in range(clients)]
    for number in range(rounds):
        server.aggregate([member.train(server.model.state_dict()) for member in members])
        if number % 10 == 9:
            print(number, server.drift())


if __name__ == "__main__":
    simulate()
