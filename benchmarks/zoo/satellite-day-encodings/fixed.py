from dayfeatures import day_encoding
from train import main

if __name__ == "__main__":
    main(day_encoding.__wrapped__)
