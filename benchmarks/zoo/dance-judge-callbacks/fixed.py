from dance.callbacks import JudgeGuidance
from train import main


class LeavingGuidance(JudgeGuidance):
    def extra_loss(self, step, poses):
        if step == self.until:
            self.judge = None
        return super().extra_loss(step, poses)


if __name__ == "__main__":
    main(LeavingGuidance)
