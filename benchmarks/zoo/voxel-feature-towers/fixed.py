from towers import registry
from train import main

if __name__ == "__main__":
    main(registry.make)
