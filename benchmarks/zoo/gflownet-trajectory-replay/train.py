import torch
from balance import TrajectoryBalance
from replay import Replay
from sampling import ForwardPolicy, SequenceSampler


def main(replay=None):
    torch.manual_seed(15)
    policy = ForwardPolicy()
    learner = TrajectoryBalance(policy, SequenceSampler(policy), replay or Replay())
    for number in range(61):
        loss = learner.step(number)
        if number % 12 == 11:
            print(number, f"{loss:.2f}", f"log Z {policy.log_z.item():.3f}")


if __name__ == "__main__":
    main()
