from engine import Engine, Stages
from train import main


class WholeEngine(Engine):
    def destroy(self):
        self.module = self.optimizer = None


class WholeStages(Stages):
    engine_type = WholeEngine


if __name__ == "__main__":
    main(WholeStages())
