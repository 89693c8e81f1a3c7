import torch
import torch.nn.functional as F


def train(model, sentences, watchers, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        letters, mel = sentences.draw(6)
        loss = F.l1_loss(model(letters, mel)[:, :-1], mel[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for watcher in watchers:
            watcher.after_step(step, loss.item())
        if step % 10 == 9:
            print(f"step {step}: {loss.item():.4f}")
