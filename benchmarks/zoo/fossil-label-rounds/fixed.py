from committee import Committee
from train import main


class SmallCommittee(Committee):
    def seat(self, model):
        super().seat(model)
        del self.members[: -self.seats]


if __name__ == "__main__":
    main(SmallCommittee)
