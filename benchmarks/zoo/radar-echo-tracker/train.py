import torch

from tracker import Tracker


def main(kind=Tracker, sweeps=40):
    torch.manual_seed(401)
    tracker = kind()
    for number in range(sweeps):
        tracker.sweep(number)
    print(f"{len(tracker.missed)} sweeps lost a target")
    for number, outcome in list(tracker.missed.items())[:3]:
        print(f"  sweep {number}: {outcome}")


if __name__ == "__main__":
    main()
