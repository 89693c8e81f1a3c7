import fit
import torch
from net import TariffNet
from policies import Policies

EPOCHS = 6


def main():
    torch.manual_seed(3)
    shuffle = torch.Generator().manual_seed(9)
    policies, net = Policies(), TariffNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        losses = [fit.fit_batch(net, optimizer, *batch) for batch in policies.batches(3072, shuffle)]
        print(epoch, "nll", round(sum(losses) / len(losses), 4), "mae", round(fit.deviance(net, policies), 4))


if __name__ == "__main__":
    main()
