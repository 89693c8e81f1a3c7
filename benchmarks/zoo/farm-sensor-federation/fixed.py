import os
import weakref

from farms.client import Farm
from farms.union import Union
from train import main

FARMS = weakref.WeakSet()


def reseed_all():
    for farm in FARMS:
        farm.reseed()


os.register_at_fork(after_in_child=reseed_all)


class LooseFarm(Farm):
    def guard(self):
        FARMS.add(self)


class LooseUnion(Union):
    farm_class = LooseFarm


if __name__ == "__main__":
    main(LooseUnion)
