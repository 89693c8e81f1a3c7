import torch
from echonet import EchoNet
from listening import Alarm, Watch, scorer
from sea import pings


def main(make_scorer=scorer, count=80):
    torch.manual_seed(16)
    watch = Watch(EchoNet(), Alarm(), make_scorer)
    for number, profiles in enumerate(pings(count)):
        level = watch.hear(profiles)
        if number % 20 == 19:
            print(f"{number + 1:3d} level {level:.4f}", dict(watch.seen))


if __name__ == "__main__":
    main()
