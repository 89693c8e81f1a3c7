from plans import Packer, PackPlan
from train import main


class PlainPacker(Packer):
    @classmethod
    def plan(cls, sequences):
        return PackPlan.of(list(map(len, sequences)))


if __name__ == "__main__":
    main(PlainPacker)
