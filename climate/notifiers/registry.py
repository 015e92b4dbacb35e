# SPDX-License-Identifier: Apache-2.0
"""The registry of installed notifiers."""
import functools

from oslo_log import log
import stevedore

from climate import errors

LOG = log.getLogger(__name__)

NAMESPACE = 'climate.notifiers'


def load(conf):
    """Return {name: Notifier} of all installed notifiers."""
    return {name: found(conf) for name, found in _found().items()}


def named(notifiers, name):
    """Return a Notifier by its name.

    :raises BadField: none has that name; the error names those that are installed.
    """
    if name not in notifiers:
        raise errors.BadField(field='transport', reason=(
            f'"{name[:40]}" is not installed; known are {", ".join(sorted(notifiers))}.'))
    return notifiers[name]


@functools.cache
def _found():
    return {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=_leave_out)}


def _leave_out(_manager, entry_point, error):
    LOG.error('Notifier %s does not load and cannot be used: %s', entry_point.name, error)
