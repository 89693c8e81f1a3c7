import torch
from fitting import Fitter
from pose import PoseNet, people, peaks

torch.manual_seed(30)
model = PoseNet()
fitter = Fitter(model, torch.optim.Adam(model.parameters(), lr=3e-3))

for epoch in range(4):
    losses, distances = [], []
    for loss, heatmaps, where in fitter.epoch(people(10)):
        losses.append(loss)
        distances.append((peaks(heatmaps) - where).norm(dim=-1).mean().item())
        del heatmaps
    print(f"epoch {epoch}: loss {sum(losses) / 10:.5f}, joints off by {sum(distances) / 10:.2f}")
