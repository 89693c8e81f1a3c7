"""When a search dies at night, the state of the running trial should be on disk in the morning."""

import json
import sys
import tempfile
import time
from pathlib import Path


class CrashReports:
    def __init__(self, folder=None):
        self.folder = Path(folder or tempfile.gettempdir())

    def guard(self, describe):
        """From now on an uncaught exception also writes what `describe()` gives."""
        following = sys.excepthook

        def write_report(kind, value, traceback):
            report = {"when": time.time(), "error": f"{kind.__name__}: {value}", "state": describe()}
            (self.folder / "crash.json").write_text(json.dumps(report))
            following(kind, value, traceback)

        sys.excepthook = write_report
        return self

    def release(self):
        pass
