import torch


class Rollouts:
    def __init__(self, micro=16, size=12, length=40, vocab=256, seed=37):
        self.micro, self.shape, self.vocab = micro, (size, length), vocab
        self.generator = torch.Generator().manual_seed(seed)

    def micro_batches(self):
        for _ in range(self.micro):
            actions = torch.randint(self.vocab, self.shape, generator=self.generator)
            yield {
                "tokens": torch.randint(self.vocab, self.shape, generator=self.generator),
                "actions": actions,
                "old_log_probs": torch.full(self.shape, -5.5),
                "advantages": (actions % 5 == 0).float() - 0.2,
            }
