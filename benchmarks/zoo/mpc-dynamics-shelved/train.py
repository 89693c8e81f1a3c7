import torch
from cloning import Cloner
from dynamics import Arm, Dynamics, fit
from planner import Planner


def main(planner_class=Planner):
    torch.manual_seed(31)
    arm = Arm(seed=31)
    planner = planner_class(Dynamics())
    print("dynamics", f"{fit(planner.dynamics, arm, 20):.4f}")

    states = arm.states(160)
    actions = torch.cat([planner.plan(part) for part in states.split(40)])
    planner.shelve()

    cloner = Cloner(planner)
    for step in range(56):
        rows = torch.randint(len(states), (32,))
        loss = cloner.step(states[rows], actions[rows])
        if step % 14 == 13:
            print("policy", step + 1, f"{loss:.4f}")
    print("after driving", f"{cloner.drive(arm):.3f}")


if __name__ == "__main__":
    main()
