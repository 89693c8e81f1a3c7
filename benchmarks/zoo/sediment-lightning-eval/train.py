import logging
import warnings

import lightning as L
from cores import loaders
from module import GrainSegmenter

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def main(module=GrainSegmenter):
    L.seed_everything(1, verbose=False)
    train, held = loaders()
    trainer = L.Trainer(
        max_epochs=8, accelerator="cpu", devices=1, logger=False, num_sanity_val_steps=0,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(module(), train, held)


if __name__ == "__main__":
    main()
