from listeners import ContactSheet
from train import main


class CopiedSheet(ContactSheet):
    def crop(self, batch):
        return super().crop(batch).clone()


if __name__ == "__main__":
    main(CopiedSheet)
