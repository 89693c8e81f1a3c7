from pipeline import TrainPipeline
from train import main


class HandingOverPipeline(TrainPipeline):
    def _fill(self, reader):
        super()._fill(reader)
        batch, self.current = self.current, None
        return batch

    def _forward(self, reader):
        batch = self._fill(reader)
        self.optimizer.zero_grad(set_to_none=True)
        return self.criterion(self.model(batch), batch["click"])

    def progress(self, reader):
        loss = self._forward(reader)
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    main(HandingOverPipeline)
