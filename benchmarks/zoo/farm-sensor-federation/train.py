import torch

from farms.union import Union


def main(union_class=Union, rounds=8):
    torch.manual_seed(77)
    union = union_class()
    for number in range(rounds):
        loss = union.round([3 * number, 3 * number + 1], steps=3)
        print(f"round {number}: {loss:.4f}")


if __name__ == "__main__":
    main()
