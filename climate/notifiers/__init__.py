# SPDX-License-Identifier: Apache-2.0
"""Notifiers send notifications to subscribers. Each notifier is for one transport."""
from climate import errors
from climate import loading


def load(conf):
    """Return {name: Notifier} of all installed notifiers."""
    return {name: notifier(conf)
            for name, notifier in loading.load_usable('climate.notifiers').items()}


def named(notifiers, name):
    """Return a Notifier by its name.

    :raises BadField: none has that name; the error names the installed ones.
    """
    if name not in notifiers:
        raise errors.BadField(field='transport', reason=(
            f'"{name[:40]}" is not installed; known are {", ".join(sorted(notifiers))}.'))
    return notifiers[name]
