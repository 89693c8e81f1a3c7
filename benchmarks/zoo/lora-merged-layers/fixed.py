from functools import partial

from lora import merge_and_unload
from train import main

if __name__ == "__main__":
    main(partial(merge_and_unload, swap=setattr))
