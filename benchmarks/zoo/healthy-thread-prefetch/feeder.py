import queue
import threading

END = object()


class Feeder:
    """Reads ahead on a thread, at most `depth` batches."""

    def __init__(self, source, depth=4):
        self.source = source
        self.depth = depth

    def __iter__(self):
        ready = queue.Queue(self.depth)

        def fill():
            for item in self.source():
                ready.put(item)
            ready.put(END)

        thread = threading.Thread(target=fill, daemon=True)
        thread.start()
        while (item := ready.get()) is not END:
            yield item
        thread.join()
