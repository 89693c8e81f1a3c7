import copy

import torch
from policy import Writer
from rollout import Collector
from rounds import RlooTrainer


def coverage(documents, summaries):
    """A summary is good when its words are the document's, each said once."""
    said = (summaries[:, :, None] == documents[:, None]).any(2).float().mean(1)
    ordered = summaries.sort(1).values
    again = (ordered[:, 1:] == ordered[:, :-1]).float().mean(1)
    return said - again


def documents(batch=8, length=24, vocab=256, seed=9):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randint(vocab, (batch, length), generator=generator)


def main(collector_type=Collector, rounds=10):
    torch.manual_seed(9)
    policy = Writer()
    reference = copy.deepcopy(policy).eval().requires_grad_(False)
    trainer = RlooTrainer(collector_type(policy, reference, coverage))
    for number, texts in zip(range(rounds), documents()):
        reward = trainer.round(texts)
        print(f"round {number} reward {reward:.4f} after {trainer.updates} updates")


if __name__ == "__main__":
    main()
