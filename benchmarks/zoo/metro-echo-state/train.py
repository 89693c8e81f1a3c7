import torch
from loop import FitLoop
from module import PassengerFlow


def tap_stream(lines, stretches, ticks=5, stations=40, seed=81):
    """Passengers mostly ride one station on; each stretch begins where the last one ended."""
    generator = torch.Generator().manual_seed(seed)
    here = torch.randint(stations, (lines,), generator=generator)
    for _ in range(stretches):
        ticks_seen = [here]
        for _ in range(ticks - 1):
            jump = torch.where(torch.rand(lines, generator=generator) < 0.8, 1, 7)
            here = (here + jump) % stations
            ticks_seen.append(here)
        yield torch.stack(ticks_seen, 1)


def main(module_class=PassengerFlow, lines=32):
    torch.manual_seed(80)
    FitLoop().run(module_class(lines), tap_stream(lines, stretches=50))


if __name__ == "__main__":
    main()
