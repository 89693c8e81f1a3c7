"""A custom Function that saves tensors, saved-tensor hooks that count, and save_on_cpu."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks

seed()
packed, unpacked = [], []


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs, scale):
        ctx.save_for_backward(inputs, scale)
        ctx.kept = inputs.shape
        return inputs * scale

    @staticmethod
    def backward(ctx, gradient):
        inputs, scale = ctx.saved_tensors
        assert inputs.shape == ctx.kept
        return gradient * scale, (gradient * inputs).sum().reshape(1)


def pack(tensor):
    packed.append(tensor.numel())
    return tensor.clone()


def unpack(tensor):
    unpacked.append(tensor.numel())
    return tensor


model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.Adam([*model.parameters(), scale])
outputs = None
for number in range(20):
    inputs = torch.randn(4, 8)
    with save_on_cpu() if number % 3 == 0 else saved_tensors_hooks(pack, unpack):
        outputs = Scaled.apply(model(inputs), scale)
    loss = outputs.square().mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=number % 4 == 0)
    optimizer.step()
    print(loss.item(), len(packed), len(unpacked))
print("scale", scale.item())
print_fingerprint(model, optimizers=(optimizer,))
