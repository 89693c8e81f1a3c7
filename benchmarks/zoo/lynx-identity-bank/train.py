import torch
from bank import IdentityBank
from encoder import CoatEncoder
from reid import ReidTrainer, Sighting


def camera_traps(visits, animals=30, pictures=12, patches=24, patch_dim=48):
    """Each visit shows three animals, and they come by in turn."""
    generator = torch.Generator().manual_seed(181)
    coats = torch.randn(animals, patches, patch_dim, generator=generator)
    for visit in range(visits):
        present = (torch.arange(3) + 3 * visit) % animals
        identities = present.repeat_interleave(pictures // 3)
        noise = torch.randn(pictures, patches, patch_dim, generator=generator)
        yield Sighting(coats[identities] + 0.6 * noise, identities)


def main(bank_class=IdentityBank, visits=50):
    torch.manual_seed(180)
    trainer = ReidTrainer(CoatEncoder(), bank_class(96))
    for number, sighting in enumerate(camera_traps(visits), 1):
        loss = trainer.step(sighting)
        if number % 10 == 0:
            print(f"visit {number} loss {loss:.4f} animals known {len(trainer.bank)}")


if __name__ == "__main__":
    main()
