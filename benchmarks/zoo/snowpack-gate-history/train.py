import torch
import torch.nn.functional as F

from snow.catchment import Catchment
from snow.season import seasons


def main(steps=40):
    torch.manual_seed(13)
    catchment = Catchment()
    optimizer = torch.optim.RMSprop(catchment.parameters(), lr=2e-3)
    for number, (weather, discharge) in enumerate(seasons(steps)):
        loss = F.l1_loss(catchment(weather), discharge)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            print(f"season {number + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
