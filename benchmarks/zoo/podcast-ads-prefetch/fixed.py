from pipeline import TrainPipeline
from train import main


class LightPipeline(TrainPipeline):
    def fetch(self, source):
        self.batch = next(source)
        inputs, clicks = self.ready(self.batch)
        self.batch.counters = self.batch.slots = None
        return inputs, clicks


if __name__ == "__main__":
    main(LightPipeline)
