"""That of tokens.py."""

from ssvm_cli.tasks.tokens import task  # noqa: F401
