import torch
from learner import ActiveLearner
from recordings import Recordings
from shortlist import Shortlist


def main(shortlist_class=Shortlist, steps=60):
    torch.manual_seed(82)
    learner = ActiveLearner(Recordings(), shortlist_class())
    for step in range(steps):
        loss = learner.learn()
        learner.browse()
        if step % 12 == 11:
            print(f"{step + 1:3d} loss {loss:.4f}", learner.shortlist.best(3))


if __name__ == "__main__":
    main()
