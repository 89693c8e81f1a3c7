from solver import MultistepSolver
from train import main


class ForgetfulSolver(MultistepSolver):
    def step(self, slope, index, latents):
        moved = super().step(slope, index, latents)
        if index + 2 == len(self.moments):
            self.slopes.clear()
        return moved


if __name__ == "__main__":
    main(ForgetfulSolver)
