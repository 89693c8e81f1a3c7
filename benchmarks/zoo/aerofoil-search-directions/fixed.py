from subspace import SubspaceDescent
from train import main


class ShortSubspace(SubspaceDescent):
    def remember(self, state, direction):
        super().remember(state, direction)
        del state["directions"][: -self.defaults["memory"]]


if __name__ == "__main__":
    main(ShortSubspace)
