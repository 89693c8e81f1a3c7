from metrics import METRICS
from train import main


def number(metric):
    return lambda restored, clean: metric(restored, clean).item()


if __name__ == "__main__":
    main({name: number(metric) for name, metric in METRICS.items()})
