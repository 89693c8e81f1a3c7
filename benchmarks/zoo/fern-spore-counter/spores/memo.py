"""A memo that sits on the function itself."""

import functools


def once_per_argument(function):
    @functools.wraps(function)
    def wrapper(*key):
        try:
            return wrapper.known[key]
        except KeyError:
            value = wrapper.known[key] = function(*key)
            return value

    wrapper.known = {}
    return wrapper
