from notebook import CELLS
from shell import Shell

if __name__ == "__main__":
    shell = Shell()
    for cell in CELLS:
        shell.run_cell(cell)
