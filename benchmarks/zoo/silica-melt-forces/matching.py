"""Force matching: the gradient of the energy is fitted along with the energy."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Frame:
    positions: torch.Tensor
    energy: torch.Tensor
    forces: torch.Tensor


class ForceMatcher:
    def __init__(self, model, first, second, force_weight=10.0):
        self.model = model
        self.first, self.second = first, second
        self.force_weight = force_weight
        self.optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def energy_and_forces(self, positions):
        positions = positions.clone().requires_grad_()
        energy = self.model(positions, self.first, self.second)
        energy.sum().backward(create_graph=True, inputs=[positions])
        return energy, -positions.grad

    def step(self, frame):
        energy, forces = self.energy_and_forces(frame.positions)
        loss = F.mse_loss(energy, frame.energy) + self.force_weight * F.mse_loss(forces, frame.forces)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), F.l1_loss(forces.detach(), frame.forces).item()
