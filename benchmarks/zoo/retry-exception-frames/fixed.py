from resilient import BatchError
from train import main


def run_guarded(function, *args, retries=2):
    for attempt in range(retries + 1):
        try:
            return function(*args)
        except BatchError:
            if attempt == retries:
                raise


if __name__ == "__main__":
    main(run_guarded)
