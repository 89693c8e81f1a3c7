import torch
from archive import MemberArchive
from forecast import ForecastService, Slot, Tendency


def main(slot=Slot, cycles=4):
    torch.manual_seed(30)
    network = Tendency().requires_grad_(False).eval()
    service = ForecastService(slot(network, MemberArchive(network.state_dict())))
    analysis = torch.randn(8, 6, 96)
    for cycle in range(cycles):
        mean, spread = service.run(analysis)
        print(f"cycle {cycle:02d} mean {mean.mean().item():+.5f} spread {spread.mean().item():.5f}")
        analysis = analysis.roll(3, -1)


if __name__ == "__main__":
    main()
