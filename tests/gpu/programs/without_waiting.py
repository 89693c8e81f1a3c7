"""Training that keeps each loss on the device, and where any wait for the device is an error from the third step on."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
batches = [torch.randn(64, 512).cuda() for _ in range(4)]
losses = []
for step in range(60):
    if step == 2:
        torch.cuda.set_sync_debug_mode("error")
    loss = (model(batches[step % 4]) - batches[(step + 1) % 4]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
torch.cuda.set_sync_debug_mode("default")
print(f"mean loss {torch.stack(losses).mean().item():.4f}")
