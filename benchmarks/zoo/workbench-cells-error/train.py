from cells import CELLS
from workbench import Workbench


def main(workbench=Workbench):
    workbench().run(CELLS)


if __name__ == "__main__":
    main()
