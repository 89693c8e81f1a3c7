import torch

from observatory import Observatory
from tremor import Station


def main(observatory=Observatory, steps=40):
    torch.manual_seed(311)
    station = Station(seed=312)
    here = observatory()
    for step in range(1, steps + 1):
        loss, bias = here.take(station.record())
        if step % 10 == 0:
            print(f"{step:3d}  loss {loss:.4f}  worst station {int(bias.argmax())}")


if __name__ == "__main__":
    main()
