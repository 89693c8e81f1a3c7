from cells import CELLS
from notebook import Notebook


def main(notebook_class=Notebook):
    failed = notebook_class().run_all(CELLS)
    print("cells to look at again:", failed)


if __name__ == "__main__":
    main()
