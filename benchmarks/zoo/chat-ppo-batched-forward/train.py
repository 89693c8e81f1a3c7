import torch
from batched import Rollout
from torch import nn
from trainer import ChatPPO


class TalkModel(nn.Module):
    def __init__(self, vocab=600, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.body = nn.GRU(dim, dim, batch_first=True)
        self.head, self.value = nn.Linear(dim, vocab), nn.Linear(dim, 1)

    def forward(self, tokens):
        states, _ = self.body(self.embed(tokens))
        return self.head(states), self.value(states).squeeze(-1)


def rollouts(count, batch=16, length=24, vocab=600):
    generator = torch.Generator().manual_seed(127)
    for _ in range(count):
        queries = torch.randint(vocab, (batch, length), generator=generator)
        responses = torch.randint(vocab, (batch, length), generator=generator)
        yield Rollout(queries, responses, torch.rand(batch, generator=generator))


def main(trainer_class=ChatPPO):
    torch.manual_seed(128)
    trainer = trainer_class(TalkModel())
    for number, rollout in enumerate(rollouts(12)):
        stats = trainer.step(rollout)
        if number % 3 == 2:
            print(number, {name: round(value, 4) for name, value in stats.items()})


if __name__ == "__main__":
    main()
