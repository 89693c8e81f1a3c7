import torch
from cloth import DefectNet, bolt
from scope import HookScope
from watch import Activations, describe, quiet


def weave(network, optimizer, rows, kind):
    with HookScope() as scope:
        seen = Activations().watch(scope, warp=network.warp, weft=network.weft)
        loss = torch.nn.functional.cross_entropy(network(rows), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), describe(seen)


def main(steps=44):
    torch.manual_seed(300)
    network = DefectNet()
    optimizer = torch.optim.Adagrad(network.parameters(), lr=0.02)
    for step, (rows, kind) in enumerate(bolt(steps)):
        loss, report = weave(network, optimizer, rows, kind)
        if step % 11 == 0:
            print(f"row {step} loss {loss:.4f} {quiet(report)}")


if __name__ == "__main__":
    main()
