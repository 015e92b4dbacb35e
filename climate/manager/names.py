# SPDX-License-Identifier: Apache-2.0
"""The names of resources for the log, such as a host as Nova knows it, beside the id."""


class Names:
    """The names that this process has read; a name is never read just for the log."""

    def __init__(self):
        self._names = {}

    def learn(self, resources):
        """Remember the names of Resources."""
        self._names |= {resource.id: resource.name for resource in resources}

    def of(self, ids):
        """Return resources in words, such as "compute-1 (7), compute-2 (9)"; "none" without any.

        A resource whose name is not known is named by its id alone.
        """
        return ', '.join(f'{self._names[each]} ({each})' if each in self._names else str(each)
                         for each in sorted(set(ids))) or 'none'
