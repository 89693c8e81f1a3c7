from itertools import islice

import torch
from balance import Balancer
from scene import SceneNet, rooms, task_losses


def main(make_balancer=Balancer, steps=48):
    torch.manual_seed(10)
    model = SceneNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    balancer = make_balancer(tuple(model.heads))
    for step, (images, wanted) in enumerate(islice(rooms(), steps)):
        losses = task_losses(model(images), wanted)
        optimizer.zero_grad()
        losses[balancer.pick(losses)].backward()
        optimizer.step()
        if step % 12 == 11:
            print(step, balancer.describe())


if __name__ == "__main__":
    main()
