from itertools import islice

import torch
from encoder import SentenceEncoder, texts
from explorer import TopicExplorer


class Fit:
    def __init__(self, model, explorer):
        self.model, self.explorer = model, explorer
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)

    def step(self, tokens, topics):
        output = self.model(tokens)
        loss = torch.nn.functional.cross_entropy(output.scores, topics)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.explorer.collect(output, topics)
        return loss.item()


def main(explorer=TopicExplorer, steps=48):
    torch.manual_seed(20)
    explorer = explorer()
    fit = Fit(SentenceEncoder(), explorer)
    for number, batch in enumerate(islice(texts(), steps), 1):
        loss = fit.step(*batch)
        if number % 12 == 0:
            print(f"{number}: {loss:.4f}")
    print(f"topics lie {explorer.spread():.3f} apart")


if __name__ == "__main__":
    main()
