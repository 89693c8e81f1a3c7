SETUP = """
import torch
from torch import nn

torch.manual_seed(13)
data = torch.randn(512, 40)
price = data[:, :5].sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
"""
TRAIN = """
part = torch.randint(512, (96,))
loss = nn.functional.huber_loss(model(data[part]), price[part])
optimizer.zero_grad()
loss.backward()
optimizer.step()
round(loss.item(), 3)
"""
EXPLAIN = "[round(w, 3) for w in model[0].weight.detach().norm(dim=0)[:6].tolist()]"
