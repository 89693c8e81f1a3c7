import torch
from bfgs import Relaxer
from potential import PairPotential


def relax(make_relaxer=Relaxer, atoms=1600, steps=50):
    torch.manual_seed(10)
    relaxer = make_relaxer(PairPotential())
    state = relaxer.start(torch.randn(atoms, 3))
    for step in range(steps):
        state = relaxer.step(state)
        if step % 10 == 9:
            print(f"{step + 1}: energy {state.energy.item():.3f}, force {state.forces.norm(dim=1).amax().item():.4f}")
    return state


if __name__ == "__main__":
    relax()
