import weakref

from sessions import Session, flush
from train import main


class SelfClosingSession(Session):
    def when_gone(self, meter):
        weakref.finalize(self, flush, meter, self.scratch)


if __name__ == "__main__":
    main(SelfClosingSession)
