from bfgs import Relaxer
from train import relax


class DetachedRelaxer(Relaxer):
    def step(self, state):
        state = super().step(state)
        state.moves, state.pulls = state.moves.detach(), state.pulls.detach()
        return state


if __name__ == "__main__":
    relax(DetachedRelaxer)
