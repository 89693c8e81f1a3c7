MODULES = {}


def register(name):
    def wrap(build):
        def built(*args, **kwargs):
            module = build(*args, **kwargs)
            MODULES[name] = module
            return module

        return built

    return wrap
