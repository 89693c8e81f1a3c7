import torch
from control import Controller
from policy import ArmPolicy, Arms


def episode(controller, arms, decisions):
    controller.reset()
    states = arms.demonstration()
    torque = controller.act(states)
    now = states[:, -1]
    for _ in range(decisions - 1):
        now = arms.move(now, torque)
        torque = controller.act(now[:, None])
    return now[:, : arms.joints].abs().mean().item(), controller.history.novelty()


def main(controller_class=Controller, episodes=2, decisions=45):
    torch.manual_seed(60)
    controller, arms = controller_class(ArmPolicy()), Arms()
    for number in range(episodes):
        rest, novelty = episode(controller, arms, decisions)
        print(number, f"angle {rest:.4f} novelty {novelty:.3f}", "history grew by", sum(controller.meter.sizes[-decisions:]))


if __name__ == "__main__":
    main()
