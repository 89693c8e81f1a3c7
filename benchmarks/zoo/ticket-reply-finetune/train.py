import torch

from replies.lm import Tickets
from replies.recipe import Recipe


def main(kind=Recipe, steps=24):
    torch.manual_seed(1001)
    recipe, tickets = kind(), Tickets(seed=1002)
    for number in range(steps):
        loss = recipe.step(number, tickets.draw())
    print(f"last loss {loss:.4f}")


if __name__ == "__main__":
    main()
