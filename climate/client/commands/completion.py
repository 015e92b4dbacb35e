# SPDX-License-Identifier: Apache-2.0
"""The command that prints the completion of a shell; only ``climate`` has it."""
import argparse

from climate.client import completion
from climate.client.commands import base


class PrintCompletion(base.ClientCommand):
    """Print the completion for bash, zsh or fish, with names of leases and other values."""

    auth_required = False
    example = 'completion bash > ~/.local/share/bash-completion/completions/climate'

    parameters = (('shell', {'metavar': 'SHELL', 'choices': completion.SHELLS,
                             'help': f'The shell: {", ".join(completion.SHELLS)}.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.app.stdout.write(completion.script(parsed_args.shell))
