from dataclasses import dataclass, field
from typing import Any


@dataclass
class Connection:
    client: int
    patience: int
    body: Any
    sent: list = field(default_factory=list)
    gone: bool = False

    def push(self):
        for tokens in self.body:
            self.sent.append(tokens)
            if len(self.sent) >= self.patience:
                self.gone = True
                return


class Server:
    def __init__(self, respond):
        self.respond = respond
        self.connections = []
        self.dropped = 0

    def handle(self, client, prompt, patience):
        connection = Connection(client, patience, self.respond(prompt))
        self.connections.append(connection)
        connection.push()
        self.finish(connection)
        return len(connection.sent)

    def finish(self, connection):
        if connection.gone:
            self.dropped += 1

    def report(self):
        return f"{len(self.connections)} connections, {self.dropped} dropped by the client"
