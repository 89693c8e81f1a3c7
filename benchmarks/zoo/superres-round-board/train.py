import torch
from game import Critic, Game, Painter
from phases import PHASES


def photos(batch=12, side=48):
    generator = torch.Generator().manual_seed(61)
    ramp = torch.linspace(0, 9, side)
    while True:
        angle = torch.rand(batch, 3, 1, 1, generator=generator) * 6
        yield torch.sin(ramp[:, None] * angle.cos() + ramp[None, :] * angle.sin() + angle)


def main(phases=PHASES, rounds=24):
    torch.manual_seed(60)
    game = Game(photos(), phases, Painter(), Critic())
    for number in range(1, rounds + 1):
        report = game.round()
        if number % 6 == 0:
            print(number, {side: round(value, 4) for side, value in report.items()})


if __name__ == "__main__":
    main()
