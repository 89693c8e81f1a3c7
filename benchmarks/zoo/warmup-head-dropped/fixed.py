from stages import Curriculum
from train import main


class Clean(Curriculum):
    def change_head(self):
        old = super().change_head()
        gone = set(old.parameters())
        for p in gone:
            self.optimizer.state.pop(p, None)
        self.optimizer.param_groups = [g for g in self.optimizer.param_groups if not gone & set(g["params"])]
        return old


if __name__ == "__main__":
    main(Clean)
