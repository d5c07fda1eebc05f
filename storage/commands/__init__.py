"""The command ``birthmark storage``, and where it is."""

from birthmark.plugins import Command

COMMAND = Command(
    title="Placement and storage",
    help="Fit a server to its traffic, and rank variants of it.",
    module="birthmark.storage.commands.storage",
)
