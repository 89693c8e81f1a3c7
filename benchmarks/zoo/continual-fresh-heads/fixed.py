from learner import Learner
from train import main


class ReplacingLearner(Learner):
    def adopt(self, head):
        for old in self.optimizer.param_groups.pop()["params"]:
            self.optimizer.state.pop(old, None)
        super().adopt(head)


if __name__ == "__main__":
    main(ReplacingLearner)
