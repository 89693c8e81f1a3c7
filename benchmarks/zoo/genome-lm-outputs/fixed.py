from train import main
from trainer import Trainer


class LeanTrainer(Trainer):
    def training_step(self, model, inputs):
        loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        self.totals["entropy"] += outputs.gate_entropy.item()
        del outputs
        loss.backward()
        self.totals["loss"] += loss.item()


if __name__ == "__main__":
    main(LeanTrainer)
