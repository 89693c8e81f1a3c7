import torch
from callbacks import AlignmentPlotter, LossPrinter
from synthesiser import Synthesiser, utterances
from torch.nn.functional import l1_loss


class Fitting:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks

    def batch(self, text, mels):
        predicted, alignment = self.model(text, mels)
        loss = l1_loss(predicted, mels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"mel_loss": loss.item(), "alignment": alignment}

    def run(self, data):
        for step, (text, mels) in enumerate(data, 1):
            self.notify("on_batch_end", step, self.batch(text, mels))
        self.notify("on_fit_end")

    def notify(self, event, *arguments):
        for callback in self.callbacks:
            getattr(callback, event)(*arguments)


def main(plotter=AlignmentPlotter):
    torch.manual_seed(33)
    model = Synthesiser()
    Fitting(model, torch.optim.Adam(model.parameters(), lr=2e-3), [LossPrinter(), plotter()]).run(utterances(40))


if __name__ == "__main__":
    main()
