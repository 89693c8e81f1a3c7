from dataclasses import dataclass

import torch


@dataclass
class RelaxState:
    positions: torch.Tensor
    energy: torch.Tensor
    forces: torch.Tensor
    moves: torch.Tensor
    pulls: torch.Tensor


class Relaxer:
    """Limited-memory quasi-Newton relaxation of a whole system of atoms at once."""

    def __init__(self, potential, memory=6, longest=0.05):
        self.potential, self.memory, self.longest = potential, memory, longest

    def start(self, positions):
        energy, forces = self.evaluate(positions)
        empty = positions.new_zeros(0, positions.numel())
        return RelaxState(positions, energy, forces, empty, empty)

    def evaluate(self, positions):
        positions.requires_grad_(True)
        energy = self.potential(positions)
        (slope,) = torch.autograd.grad(energy, positions)
        return energy.detach(), -slope

    def direction(self, state):
        q, weights = -state.forces.flatten(), []
        for s, y in zip(state.moves.flip(0), state.pulls.flip(0)):
            rho = 1 / (y @ s).clamp_min(1e-8)
            alpha = rho * (s @ q)
            q = q - alpha * y
            weights.append((rho, alpha, s, y))
        q = 0.02 * q
        for rho, alpha, s, y in reversed(weights):
            q = q + s * (alpha - rho * (y @ q))
        return -q.view_as(state.positions)

    def step(self, state):
        move = self.direction(state)
        move = move * (self.longest / move.norm(dim=1).amax()).clamp(max=1)
        positions = (state.positions + move).detach()
        energy, forces = self.evaluate(positions)
        moved = (positions - state.positions).flatten()
        pulled = (state.forces - forces).flatten()
        size = moved.norm()
        state.moves = torch.cat([state.moves, (moved / size)[None]])[-self.memory :]
        state.pulls = torch.cat([state.pulls, (pulled / size)[None]])[-self.memory :]
        state.positions, state.energy, state.forces = positions, energy, forces
        return state
