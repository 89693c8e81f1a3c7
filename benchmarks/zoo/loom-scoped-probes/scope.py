"""A scope for hooks: what was hooked inside is unhooked on the way out."""

from contextlib import ExitStack


class HookScope:
    def __init__(self):
        self.stack = ExitStack()

    def adopt(self, handle):
        self.stack.callback(handle.remove)
        return handle

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stack.close()
