class BatchError(Exception):
    pass


def run_guarded(function, *args, retries=2):
    """Calls `function`; after a failure tries again and raises only when every attempt failed."""
    failure = None
    for _ in range(retries + 1):
        try:
            return function(*args)
        except BatchError as error:
            failure = error
    raise failure


def check_batch(tokens, activations, limit):
    scale = activations.detach().abs().amax()
    if scale > limit:
        raise BatchError(f"activation {scale:.2f} beyond {limit} in a batch of {len(tokens)}")
