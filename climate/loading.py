# SPDX-License-Identifier: Apache-2.0
"""The loader of plugins: the entry points of a group, by name."""
from collections.abc import Iterable
from collections.abc import Mapping
import functools
from importlib import metadata
import logging
from typing import Any
from typing import NoReturn

from oslo_log import log
import stevedore
from stevedore import named

from climate import errors

LOG = log.getLogger(__name__)


@functools.cache
def installed(group: str) -> tuple[str, ...]:
    """Return the names of all entry points of a group, sorted, without loading them."""
    return tuple(sorted({point.name for point in metadata.entry_points(group=group)}))


def load(group: str, names: Iterable[str], source: str,
         users: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Load entry points of a group; return {name: class} in the order of `names`.

    :param source: the option that has the names, such as ``[DEFAULT] plugins``, for errors.
    :param users: {name: who uses it}, for errors; None if `source` says enough.
    :raises ConfigurationError: one is not installed, is installed twice, or does not load.
    """
    def label(name: str) -> str:
        return f'{source}: "{name}"' + (f', which {users[name]} uses,' if users else '')

    def refuse_missing(missing: set[str]) -> NoReturn:
        hint = ' Separate names with commas.' if len(min(missing).split()) > 1 else ''
        raise errors.ConfigurationError(f'{label(min(missing))} is not installed; installed are: '
                                        f'{", ".join(installed(group)) or "none"}.{hint}')

    def refuse_broken(_manager: object, point: metadata.EntryPoint, error: Exception) -> NoReturn:
        hint = (f' Install the module {error.name}.' if isinstance(error, ImportError)
                and error.name else '')
        raise errors.ConfigurationError(
            f'{label(point.name)} does not load: {str(error).rstrip(".")}.{hint}') from error

    names = list(dict.fromkeys(names))
    classes = {}
    for extension in named.NamedExtensionManager(
            group, names, on_missing_entrypoints_callback=refuse_missing,
            on_load_failure_callback=refuse_broken):
        if extension.name in classes:
            raise errors.ConfigurationError(f'{label(extension.name)} is installed twice.')
        classes[extension.name] = extension.plugin
    return {name: classes[name] for name in names}


@functools.cache
def load_usable(group: str, level: int = logging.ERROR) -> dict[str, Any]:
    """Load all entry points of a group once; return {name: class} without those that do not load.

    :param level: the level of the log line about an entry point that does not load.
    """
    def leave_out(_manager: object, point: metadata.EntryPoint, error: Exception) -> None:
        LOG.log(level, '%s: "%s" does not load and cannot be used: %s', group, point.name, error)

    return {extension.name: extension.plugin for extension in stevedore.ExtensionManager(
        group, on_load_failure_callback=leave_out)}
