import torch
from speakers import Voices
from verification import SpeakerNet, additive_margin
from whitening import RunningWhitener


def run(net, voices, steps):
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)

    def update():
        statistics, who = voices.batch()
        loss = additive_margin(net(statistics), who)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    for step in range(1, steps + 1):
        loss = update()
        if step % 15 == 0:
            print(f"{step:3d} loss {loss:.4f} spread {net.whitener.covariance.diagonal().mean().item():.4f}")


def main(whitener_class=RunningWhitener, steps=60):
    torch.manual_seed(50)
    run(SpeakerNet(whitener_class=whitener_class), Voices(), steps)


if __name__ == "__main__":
    main()
