import torch
import torch.nn.functional as F
from soil import SoilMoisture, passes
from widening import Surgeon

GROWTH = {12: 320}


def fit(model, optimizer, readings, moisture):
    loss = F.mse_loss(model(readings), moisture)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(surgeon_class=Surgeon, steps=48):
    torch.manual_seed(250)
    model = SoilMoisture()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    surgeon = surgeon_class(model, optimizer)
    for step, batch in enumerate(passes(steps)):
        if step in GROWTH:
            surgeon.operate(GROWTH[step])
        loss = fit(model, optimizer, *batch)
        if step % 8 == 0:
            print(f"pass {step:2d} width {model.expand.out_features} loss {loss:.5f}")


if __name__ == "__main__":
    main()
