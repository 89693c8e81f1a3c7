from contextlib import contextmanager

import runtime
from train import main


@contextmanager
def closed_session(model, **settings):
    with runtime.open_session(model, **settings) as session:
        try:
            yield session
        finally:
            del runtime._local.session


if __name__ == "__main__":
    main(closed_session)
