import torch
from episodes import Handover, play
from policies import BUILDERS, controller
from tank import WaterTanks


def main(kind="jumpstart", episodes=40, horizon=10):
    torch.manual_seed(50)
    world = WaterTanks()
    learner = controller(world.tanks, 96, 2)
    handover = Handover(horizon, stages=4, every=4)
    act = BUILDERS[kind](learner, guide=controller(world.tanks, 512, 3), handover=handover)
    optimizer = torch.optim.RMSprop(learner.parameters(), lr=1e-3)
    for episode in range(episodes):
        value = play(world, act, horizon)
        optimizer.zero_grad()
        (-value).backward()
        optimizer.step()
        handover.advance()
        if episode % 8 == 0:
            print(f"episode {episode:2d} from moment {handover()} value {value.item():.4f}")
        del value


if __name__ == "__main__":
    main()
