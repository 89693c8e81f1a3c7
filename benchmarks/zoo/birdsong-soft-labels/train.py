import torch
from field import recordings
from models import student, teacher
from trainer import DistillingTrainer


def main(trainer_class=DistillingTrainer):
    torch.manual_seed(14)
    trainer = trainer_class(student(), recordings(), teacher=teacher(), lr=3e-3)
    trainer.fit(60)
    print("temperature", f"{trainer.temperature:.3f}")


if __name__ == "__main__":
    main()
