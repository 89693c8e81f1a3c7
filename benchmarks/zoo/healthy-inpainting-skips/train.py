import torch
from requests_queue import Desk, incoming
from restorer import Restorer


def main(count=36):
    torch.manual_seed(90)
    desk = Desk(Restorer().eval())
    brightness = 0.0
    for job in incoming(count):
        brightness += desk.work(job).mean().item()
    print(f"{count} photographs, mean brightness {brightness / count:.4f}")
    for name, notes in desk.recent:
        print(name, {key: round(value, 5) for key, value in notes.items()})


if __name__ == "__main__":
    main()
