import torch
from curiosity import Novelty
from explorer import Explorer
from mazes import Mazes


def main(novelty=Novelty, updates=40):
    torch.manual_seed(7)
    explorer = Explorer(Mazes(), novelty)
    for update in range(1, updates + 1):
        value = explorer.learn()
        if update % 10 == 0:
            print(update, f"return {value:.3f} scale {explorer.novelty.scale.item():.4f}")


if __name__ == "__main__":
    main()
