from callbacks import TermMeans
from train import main


class DetachedMeans(TermMeans):
    def on_substep(self, state, terms):
        super().on_substep(state, {name: value.detach() for name, value in terms.items()})


if __name__ == "__main__":
    main(DetachedMeans)
