import torch
from autoencoder import KiteVAE
from datamodule import Kites
from flow import VelocityNet, flow_loss, sample_spread


def main(data=Kites, epochs=20):
    torch.manual_seed(1)
    kites = data(KiteVAE())
    kites.prepare()
    net = VelocityNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for x, kind in kites.batches(16):
            loss = flow_loss(net, x, kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(epoch + 1, round(loss.item(), 4), "spread", round(sample_spread(net, torch.arange(6)), 3))


if __name__ == "__main__":
    main()
