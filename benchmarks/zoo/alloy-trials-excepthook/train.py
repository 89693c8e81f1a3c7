import torch
from crash import CrashReports
from search import RandomSearch


def main(reports_type=CrashReports):
    torch.manual_seed(2)
    search = RandomSearch(reports_type(), trials=12, steps=5)
    for score, number, settings in search.run():
        print(f"trial {number:2d} nll {score:7.4f} {settings}")
    score, number, _ = search.best()
    print("best", number, round(score, 4))


if __name__ == "__main__":
    main()
