import torch
from flow import Flow
from stepping import make_step


def spectra(count, batch=256, dim=64):
    generator = torch.Generator().manual_seed(88)
    mixing = torch.randn(8, dim, generator=generator)
    for _ in range(count):
        yield torch.randn(batch, 8, generator=generator) @ mixing / 3 + 0.2 * torch.randn(
            batch, dim, generator=generator
        )


def main(factory=make_step, steps=45):
    torch.manual_seed(89)
    flow = Flow()
    step, spread = factory(flow, torch.optim.Adam(flow.parameters(), lr=2e-3))
    for number, batch in enumerate(spectra(steps)):
        loss = step(batch)
        if number % 11 == 0:
            print(number, f"{loss:.4f}", [f"{value:.3f}" for value in spread()])


if __name__ == "__main__":
    main()
