import torch
from kfac import KFAC
from regression import Robot, dynamics_net


def main(optimizer_class=KFAC):
    torch.manual_seed(80)
    robot, net = Robot(), dynamics_net()
    optimizer = optimizer_class(net)

    # %% fit
    history = []
    for _ in range(44):
        state, torque = robot.sample()
        loss = (net(state) - torque).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())

    # %% look
    print("first", round(history[0], 4), "last", round(history[-1], 4))


if __name__ == "__main__":
    main()
