import torch
from detector import Detector
from torch.utils.data import DataLoader, Dataset
from trainer import ScorePrinter, Trainer


class Scenes(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        image = torch.rand(3, 64, 64, generator=generator)
        target = {
            "labels": torch.randint(12, (16, 16), generator=generator),
            "boxes": torch.rand(4, 16, 16, generator=generator),
        }
        return image, target


if __name__ == "__main__":
    torch.manual_seed(8)
    trainer = Trainer(Detector(), [ScorePrinter(every=10)])
    trainer.fit(DataLoader(Scenes(), batch_size=4))
