"""Classifier of pictures as vectors, AdamW, a loader of what lies on the host."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

pictures = TensorDataset(torch.randn(4096, 784), torch.randint(10, (4096,)))
loader = DataLoader(pictures, batch_size=256, shuffle=True)

model = nn.Sequential(
    nn.Linear(784, 4096),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(4096, 4096),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(4096, 4096),
    nn.ReLU(),
    nn.Linear(4096, 10),
).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
