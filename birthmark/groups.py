"""Groups of commands."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class DefaultGroup(TyperGroup):
    """A group that takes a first word that is no command as an argument of its first command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the command that was left out."""
        known = {*self.commands, *ctx.help_option_names}
        if args and args[0] not in known:
            args = [self._default(), *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the options of the default command, too."""
        default = self.commands[self._default()].shell_complete(ctx, incomplete)
        found = {each.value: each for each in (*super().shell_complete(ctx, incomplete), *default)}
        return list(found.values())

    def _default(self) -> str:
        return next(iter(self.commands))
