import geometry
from train import main

if __name__ == "__main__":
    geometry.same_class = geometry.same_class.__wrapped__
    main()
