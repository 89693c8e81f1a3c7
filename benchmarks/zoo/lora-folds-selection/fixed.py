import adapters
from train import main

if __name__ == "__main__":
    adapters.adapter_parameters = adapters.adapter_parameters.__wrapped__
    main()
