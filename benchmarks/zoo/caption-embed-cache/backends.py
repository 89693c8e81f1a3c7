from embeds import TextEmbeddingCache


class StateTracker:
    backends = {}

    @classmethod
    def set_backend(cls, name, backend):
        cls.backends[name] = backend

    @classmethod
    def text_cache(cls):
        return cls.backends["text-embeds"]


def configure_backends(encoders, make_cache=TextEmbeddingCache):
    StateTracker.set_backend("text-embeds", make_cache("text-embeds", encoders))
    StateTracker.set_backend("images", {"resolution": 64})
