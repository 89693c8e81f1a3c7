"""Lightning fits a small module. Argument: healthy or losses (training_step appends the loss to an attribute)."""

import logging
import sys
import tempfile

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Boring(lightning.LightningModule):
    def __init__(self, keeps):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 2))
        self.keeps = keeps
        self.losses = []

    def training_step(self, batch, batch_index):
        loss = self.net(batch[0]).square().mean()
        if self.keeps:
            self.losses.append(loss)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_index):
        self.log("validation", self.net(batch[0]).mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def main(kind):
    lightning.seed_everything(0, verbose=False)
    data = DataLoader(TensorDataset(torch.randn(96, 32)), batch_size=8)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
            enable_checkpointing=False, default_root_dir=folder,
        )  # fmt: skip
        trainer.fit(Boring(kind == "losses"), data, data)
    print(sorted(trainer.callback_metrics))


main(sys.argv[1])
