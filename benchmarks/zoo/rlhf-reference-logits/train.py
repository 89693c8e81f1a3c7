import torch
from policy import Prompts, TokenPolicy, frozen_copy
from ppo import PPOSettings, PPOStep


def main(step_class=PPOStep):
    torch.manual_seed(6)
    settings = PPOSettings()
    policy = TokenPolicy()
    reference = frozen_copy(policy)
    step = step_class(policy, reference, torch.optim.Adam(policy.parameters(), lr=1e-2), settings)
    prompts = Prompts()
    for number in range(settings.updates):
        stats = step.update(*prompts.rollout())
        if number % 9 == 8:
            print(number, {name: round(value, 4) for name, value in stats.items()})


if __name__ == "__main__":
    main()
