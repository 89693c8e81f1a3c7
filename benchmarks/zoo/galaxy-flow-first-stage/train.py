import torch
from autoencoder import FirstStage
from flow import LatentFlow
from survey import cutouts


def main(prepare=LatentFlow.prepare, steps=60):
    torch.manual_seed(17)
    model = LatentFlow(FirstStage())
    latents = prepare(model, cutouts())
    optimizer = torch.optim.AdamW(model.velocity.parameters(), lr=2e-3)
    for step in range(steps):
        loss = model(latents[torch.randint(len(latents), (32,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step + 1, f"{loss.item():.4f}", f"{model.straightness(latents[:8]):.4f}")


if __name__ == "__main__":
    main()
