# SPDX-License-Identifier: Apache-2.0
"""The cloud for one look at it: everything is read once, however many ask for it."""
from climate.cloud import guard


class Readings:
    """A cloud that remembers its answers, used as Climate itself.

    Several that compare the same kind of thing share one call, and see the same. They must not
    change what they get. What would change the cloud is refused.
    """

    def __init__(self, cloud):
        self._services = _Services(cloud.as_service())

    def as_service(self):
        """As ``as_service`` of the cloud, but that reads only, and each thing once."""
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
            raise TypeError(f'{name} changes the cloud, and this is for looking at it.')

        def ask(*args, **kwargs):
            key = name, repr(args), repr(sorted(kwargs.items()))
            if key not in self._answers:
                self._answers[key] = found(*args, **kwargs)
            return self._answers[key]
        return ask
