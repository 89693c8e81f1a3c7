import torch
from torch import nn

ACCUMULATE = 4


def main(updates=30):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(500, 64), nn.Flatten(), nn.Linear(64 * 12, 500))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 10))
    for update in range(updates):
        total = 0.0
        for _ in range(ACCUMULATE):
            tokens = torch.randint(500, (8, 13))
            logits = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(logits, tokens[:, -1]) / ACCUMULATE
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        if update % 10 == 0:
            print(update, total)


if __name__ == "__main__":
    main()
