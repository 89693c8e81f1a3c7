import torch
from failures import Trail
from pharmacology import Compartments, cohorts
from solver import Solver
from torch.nn import functional


def main(trail_class=Trail, steps=70):
    torch.manual_seed(71)
    solver = Solver(Compartments(), trail=trail_class())
    optimizer = torch.optim.Adam(solver.parameters(), lr=2e-3)
    for step, (dose, clearance, measured) in zip(range(steps), cohorts(), strict=False):
        loss = functional.mse_loss(solver(dose, clearance)[-1], measured)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(step + 1, f"{loss.item():.5f}", solver.trail.summary())


if __name__ == "__main__":
    main()
