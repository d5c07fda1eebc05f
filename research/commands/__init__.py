"""The command ``birthmark research``, and where it is."""

from birthmark.plugins import Command

COMMAND = Command(
    title="Research",
    help="Check papers' claims; generate and replay traces.",
    module="birthmark.research.commands.research",
    renamed={
        "replay": "research replay",
        "storage attached": "research attached",
        "storage paper": "research paper",
        "storage replay": "research block-replay",
        "storage validate": "research validate",
        "workload": "research workload",
    },
)
