import torch
from torch.utils.data import DataLoader

from rockart.embed import Embedder, contrast
from rockart.panels import Panels


def main(panels=Panels, epochs=5):
    torch.manual_seed(1)
    loader = DataLoader(panels(), batch_size=8, shuffle=True)
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for pairs in loader:
            left, right = model(pairs.flatten(0, 1)).view(len(pairs), 2, -1).unbind(1)
            loss = contrast(left, right)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
