"""What values of a model's header may be: functions that tell whether one is valid, and the keys of its `structure`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """A key of `structure` in the header of a task's models.

    valid(value) -> whether it is valid; expected: what is, for messages; needed: whether it must be there; nullable:
    whether it may be null.
    """

    valid: Callable
    expected: str
    needed: bool = False
    nullable: bool = False


def exactly(kind):
    return lambda value: type(value) is kind


def number(value):
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def positive(value):
    return number(value) and value > 0


def one_of(*values):
    return lambda value: type(value) is type(values[0]) and value in values


def count(value):
    return type(value) is int and value >= 0


def up_to(most):
    return lambda value: count(value) and value <= most


def lists_of(kind):
    def valid(value):
        return isinstance(value, list) and all(
            isinstance(each, list) and each and all(type(item) is kind for item in each) for each in value
        )

    return valid
