import queue
import threading


class ModelLoader:
    """Builds pipelines off the main thread, so the event loop stays responsive."""

    def __init__(self, builders):
        self.builders = builders
        self.requests = queue.Queue()
        self.ready = queue.Queue()
        self.thread = threading.Thread(target=self.work, name="model-loader", daemon=True)
        self.thread.start()

    def work(self):
        while True:
            name = self.requests.get()
            if name is None:
                return
            pipeline = self.builders[name]()
            pipeline.warm_up()
            self.ready.put(pipeline)

    def load(self, name):
        self.requests.put(name)
        return self.ready.get()

    def close(self):
        self.requests.put(None)
        self.thread.join()
