import torch
from population import search


def main():
    torch.manual_seed(31)
    score, width = search(torch.randn(128, 64), generations=25)
    print("best width", width, f"{score:.4f}")


if __name__ == "__main__":
    main()
