from train import main
from trainer import Trainer, train_context


class FreeingTrainer(Trainer):
    def forward_backward_step(self, input_ids, labels):
        with train_context():
            pred = self.model(input_ids)
            loss = self.loss_fn(pred, labels)
            del pred
            loss.backward()
        return loss.detach()


if __name__ == "__main__":
    main(FreeingTrainer)
