from itertools import islice

import torch
from encoder import SentenceEncoder, texts
from explorer import TopicExplorer


def fit(model, batches, explorer):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for step, (tokens, topics) in enumerate(batches, 1):
        output = model(tokens)
        loss = torch.nn.functional.cross_entropy(output.scores, topics)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        explorer.collect(output, topics)
        if step % 12 == 0:
            print(f"{step}: {loss.item():.4f}")


def main(explorer=TopicExplorer, steps=48):
    torch.manual_seed(20)
    explorer = explorer()
    fit(SentenceEncoder(), islice(texts(), steps), explorer)
    print(f"topics lie {explorer.spread():.3f} apart")


if __name__ == "__main__":
    main()
