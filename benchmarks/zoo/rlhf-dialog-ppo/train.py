"""PPO for a small dialogue policy against its frozen reference."""

import torch

from rl.models import PolicyWithValue, reference_of, tiny_gpt
from rl.ppo import PpoConfig, PpoUpdater, Replies
from rl.scoring import Scorer


def main():
    torch.manual_seed(101)
    lm = tiny_gpt()
    updater = PpoUpdater(Scorer(PolicyWithValue(lm), reference_of(lm)), PpoConfig())
    replies = Replies(seed=55, vocab=lm.config.vocab_size)
    for step in range(1, 21):
        stats = updater.update(*replies.draw())
        if step % 5 == 0:
            print(f"update {step}: " + ", ".join(f"{k} {v:.4f}" for k, v in stats.items()))


if __name__ == "__main__":
    main()
