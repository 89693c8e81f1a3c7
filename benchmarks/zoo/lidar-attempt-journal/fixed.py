from functools import wraps

from attempts import Attempt, Overfull
from train import main


def with_more_room(journal, start=48, most=4):
    def decorate(function):
        @wraps(function)
        def call(*args):
            for number in range(most):
                attempt = Attempt(number, start << number)
                journal.attempts.append(attempt)
                try:
                    return function(*args, room=attempt.room)
                except Overfull as error:
                    attempt.error = str(error)
            raise Overfull(attempt.error)

        return call

    return decorate


if __name__ == "__main__":
    main(with_more_room)
