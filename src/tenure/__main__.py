"""`tenure` and `python -m tenure`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    The collector does not go through what is left: the process ends, and for a large tree that took as long as the
    work itself.
    """
    from tenure.cli.main import run_command_line

    code = run_command_line(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
