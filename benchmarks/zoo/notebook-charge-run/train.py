"""Replays the battery notebook: a wide net that is stopped by hand, then a narrow one that is trained through."""

from bench.cells import NOTEBOOK
from bench.shell import Shell


def main():
    shell = Shell()
    for cell in NOTEBOOK:
        result = shell.run_cell(cell)
        print(f"cell {result.number}: {'done' if result.ok else 'stopped'} {result.note}")


if __name__ == "__main__":
    main()
