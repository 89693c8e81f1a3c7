from server import BatchServer
from train import main


class HandingServer(BatchServer):
    def result(self, number):
        return self.finished.pop(number).answer


if __name__ == "__main__":
    main(HandingServer)
