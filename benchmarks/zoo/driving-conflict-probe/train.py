import torch
from learner import Learner
from network import DrivingNet
from road import frames


def main(learner_class=Learner, steps=70):
    torch.manual_seed(52)
    learner = learner_class(DrivingNet())
    for step, (x, targets) in zip(range(steps), frames(), strict=False):
        worst, losses = learner.step(x, targets)
        if step % 10 == 9:
            print(step + 1, f"{worst:+.3f}", *(f"{task}={loss:.3f}" for task, loss in losses.items()))


if __name__ == "__main__":
    main()
