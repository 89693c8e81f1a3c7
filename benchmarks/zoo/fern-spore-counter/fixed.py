import functools

from spores import rings
from train import main

if __name__ == "__main__":
    rings.ring_masks = functools.lru_cache(maxsize=2)(rings.ring_masks.__wrapped__)
    main()
