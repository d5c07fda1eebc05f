"""The command ``birthmark layout``, and where it is."""

from birthmark.plugins import Command

COMMAND = Command(
    title="Placement and storage",
    help="Compare layout policies; suggest regions; F2FS's lists.",
    module="birthmark.layout_hint.commands.layout",
    renamed={"f2fs": "layout f2fs", "region": "layout region"},
)
