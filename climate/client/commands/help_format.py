# SPDX-License-Identifier: Apache-2.0
"""The help of a command: its usage has what is required, and the list below it all options."""
import argparse
from collections.abc import Iterable
import typing

# cliff has no other name for the formatter of its own commands.
from cliff import _argparse


class HelpFormatter(_argparse.SmartHelpFormatter):
    """Formats the help of a command with a usage of one line or two."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action],
                  groups: typing.Any, prefix: str | None = None) -> None:
        groups = [group for group in groups if group.required]
        in_groups = {id(action) for group in groups for action in group._group_actions}
        required = [action for action in actions
                    if action.required or not action.option_strings or id(action) in in_groups]
        if len(required) < len([*actions]):
            required.insert(0, argparse.Action([], 'options', metavar='[options]'))
        super().add_usage(usage, required, groups, prefix)
