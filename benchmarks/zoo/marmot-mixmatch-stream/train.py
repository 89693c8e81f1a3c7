import torch
from objective import classifier, mixmatch
from streams import endless, open_streams


def main(forever=endless, epochs=7):
    torch.manual_seed(8)
    net = classifier()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    labelled, unlabelled = open_streams(forever)
    for epoch in range(epochs):
        weight = 10.0 * min(1.0, epoch / 4)
        total = 0.0
        for (x, y), (u1, u2) in zip(labelled, unlabelled):
            loss = mixmatch(net, x, y, u1, u2, weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(labelled):.4f}")


if __name__ == "__main__":
    main()
