"""Runs an analysis script anew under a name of its own, as a notebook runs a cell."""

import importlib.util
import sys
from pathlib import Path


class Workspace:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.runs = 0

    def load(self, script, **settings):
        self.runs += 1
        name = f"{Path(script).stem}_{self.runs}"
        spec = importlib.util.spec_from_file_location(name, self.folder / script)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(settings)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def run(self, script, *wanted, **settings):
        module = self.load(script, **settings)
        found = tuple(getattr(module, name) for name in wanted)
        self.close(module)
        return found

    def close(self, module):
        """The results are taken."""
