from pipelines import StylePipeline


class StatusBar:
    """Asks whoever works what there is to show."""

    def __init__(self):
        self.sources = {}

    def watch(self, key, source):
        self.sources[key] = source

    def forget(self, key):
        self.sources.pop(key, None)

    def show(self, key):
        return self.sources[key]()


class Studio:
    """Has one pipeline at a time; asking for another style unloads the one before."""

    def __init__(self, bar):
        self.bar = bar
        self.pipe = None
        self.drawn = 0

    def unload(self):
        self.pipe = None

    def load(self, style):
        self.unload()
        self.pipe = StylePipeline(style)
        self.bar.watch(style, self.pipe.progress)

    def draw(self, style, seed):
        if self.pipe is None or self.pipe.style != style:
            self.load(style)
        self.drawn += 1
        return self.pipe(seed)
