from packing import BytePacker
from train import main


class EmptiedPacker(BytePacker):
    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.rows.clear()


if __name__ == "__main__":
    main(EmptiedPacker)
