import torch

from rubric.criteria import Rubric, by_model, by_variety
from rubric.models import RewardModel, Summariser


class RubricTrainer:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.summariser = Summariser()
        self.reward = RewardModel().requires_grad_(False)
        self.rubric = Rubric()
        self.rubric.add("learned", by_model, model=self.reward, scale=0.5)
        self.rubric.add("rules", by_variety, scale=1.0)
        self.optimizer = torch.optim.Adam(self.summariser.parameters(), lr=1e-3)

    def drop_reward(self):
        self.reward = None

    def step(self):
        prompts = torch.randint(600, (16, 24))
        logits = self.summariser(prompts)
        choice = torch.distributions.Categorical(logits=logits)
        answers = choice.sample()
        gain = self.rubric(answers)
        loss = -(choice.log_prob(answers).mean(-1) * (gain - gain.mean())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return gain.mean().item()

    def run(self, criterion, steps):
        self.rubric.choose(criterion)
        gains = [self.step() for _ in range(steps)]
        print(f"{criterion}: gain {sum(gains) / len(gains):.4f} over {steps} steps")
