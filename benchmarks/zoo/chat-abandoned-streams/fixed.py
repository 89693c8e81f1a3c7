from server import Server
from train import main


class ClosingServer(Server):
    def finish(self, connection):
        super().finish(connection)
        connection.body.close()


if __name__ == "__main__":
    main(ClosingServer)
