import queue
import threading


class Prefetcher:
    """Draws from an iterable in a thread of its own, some batches ahead."""

    done = object()

    def __init__(self, iterable, ahead=6):
        self.ready = queue.Queue(ahead)
        self.thread = threading.Thread(target=self._draw, args=(iterable,), daemon=True)
        self.thread.start()

    def _draw(self, iterable):
        for item in iterable:
            self.ready.put(item)
        self.ready.put(self.done)

    def __iter__(self):
        return self

    def __next__(self):
        item = self.ready.get()
        if item is self.done:
            raise StopIteration
        return item

    def close(self):
        """Lets the thread come to its end."""
        while self.thread.is_alive():
            try:
                self.ready.get(timeout=0.01)
            except queue.Empty:
                pass
