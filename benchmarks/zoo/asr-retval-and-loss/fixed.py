import torch
from data import utterances
from model import SpeechModel
from trainer import Trainer, TrainerOptions


class FreeingTrainer(Trainer):
    @classmethod
    def train_one_epoch(cls, model, optimizer, iterator, reporter, options):
        model.train()
        for iiter, (_, batch) in enumerate(iterator, 1):
            loss, stats, weight = model(**batch)
            reporter.register(stats, weight)
            loss.backward()
            del loss, stats, weight
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.grad_clip)
            optimizer.step()
            optimizer.zero_grad()
            if iiter % options.log_interval == 0:
                print(iiter, reporter.log_message())
            if iiter >= options.max_iter:
                break


def main():
    torch.manual_seed(1)
    model = SpeechModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    reporter = FreeingTrainer.run(model, optimizer, utterances(), TrainerOptions())
    print("done", reporter.log_message())


if __name__ == "__main__":
    main()
