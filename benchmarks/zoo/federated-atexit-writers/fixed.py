import atexit

from client import Client, Journal
from train import main


class TidyJournal(Journal):
    def close(self):
        super().close()
        atexit.unregister(self.close)
        self.client = None


if __name__ == "__main__":
    Client.journal_type = TidyJournal
    main()
