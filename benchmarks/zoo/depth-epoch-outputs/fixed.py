from train import main
from wrapper import EpochTrainer


class DetachingTrainer(EpochTrainer):
    def train(self, module, loader):
        outputs = []
        for batch in loader():
            module.optimizer.zero_grad()
            output = module.training_step(batch)
            output["loss"].backward()
            module.optimizer.step()
            rmse = output["metrics"]["rmse"].detach()
            outputs.append({"loss": output["loss"].detach(), "metrics": {"rmse": rmse}})
            del output
        return outputs


if __name__ == "__main__":
    main(DetachingTrainer)
