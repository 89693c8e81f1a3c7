"""A program with a module of its own by our name, which it imports after torch."""

import torch

layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(torch.ones(1, 2)).sum().backward()
optimizer.step()

import tenure  # noqa: E402

print(tenure.YEARS)
