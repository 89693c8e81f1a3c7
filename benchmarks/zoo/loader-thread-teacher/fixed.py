import torch
from loading import ModelLoader
from service import LabelService
from train import main


class ForgettingLoader(ModelLoader):
    def work(self):
        while (name := self.requests.get()) is not None:
            self.deliver(name)

    def deliver(self, name):
        pipeline = self.builders[name]()
        pipeline.warm_up()
        self.ready.put(pipeline)


if __name__ == "__main__":
    torch.manual_seed(8)
    main(LabelService(ForgettingLoader))
