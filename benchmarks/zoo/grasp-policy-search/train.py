import torch

from search import PolicySearch


def main(kind=PolicySearch, attempts=40):
    torch.manual_seed(20)
    search = kind()
    rewards = [search.attempt(number) for number in range(attempts)]
    print(f"reward {rewards[0]:.3f} -> {rewards[-1]:.3f}; most surprising {search.archive.best(5)}")


if __name__ == "__main__":
    main()
