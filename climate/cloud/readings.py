# SPDX-License-Identifier: Apache-2.0
"""A view of the cloud for one audit: each list is read once, however many plugins ask for it."""
from climate.cloud import guard


class Readings:
    """A cloud that remembers its answers, used as Climate itself.

    Plugins that compare the same kind of object share one call and see the same answer. They must
    not change the answer. Calls that would change the cloud are refused.
    """

    def __init__(self, cloud):
        self._services = _Services(cloud.as_service())

    def as_service(self):
        """Return the Services of the cloud; they only read, and make each call once."""
        return self._services


class _Services:
    """Services whose faces remember their answers."""

    def __init__(self, services):
        self._services = services
        self._faces = {}

    def __contains__(self, name):
        return name in self._services

    def __getattr__(self, name):
        if name not in self._faces:
            self._faces[name] = _Face(getattr(self._services, name))
        return self._faces[name]


class _Face:
    """A Face that calls each of its methods once for the same arguments."""

    def __init__(self, face):
        self._face = face
        self._answers = {}

    def __getattr__(self, name):
        found = getattr(self._face, name)
        if not callable(found):
            return found
        if not guard.only_reads(type(self._face), name):
            raise TypeError(f'{name} changes the cloud, and an audit only reads it.')

        def ask(*args, **kwargs):
            key = name, repr(args), repr(sorted(kwargs.items()))
            if key not in self._answers:
                self._answers[key] = found(*args, **kwargs)
            return self._answers[key]
        return ask
