import logging
import logging.handlers
import sys


def open_journal():
    """Debug lines wait in memory and are written only if something goes wrong."""
    console = logging.StreamHandler(sys.stdout)
    console.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    held = logging.handlers.MemoryHandler(4096, flushLevel=logging.ERROR, target=console, flushOnClose=False)
    root = logging.getLogger("turbine")
    root.setLevel(logging.DEBUG)
    root.propagate = False
    root.addHandler(held)
    return held
