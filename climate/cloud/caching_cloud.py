# SPDX-License-Identifier: Apache-2.0
"""A read-only view of the cloud that makes each call once, for several plugins in one pass."""
from climate.cloud import call_guard


class CachingCloud:
    """A cloud that caches its answers, used as Climate itself.

    Plugins that compare the same kind of object share one call and get the same answer. They must
    not change the answer. Calls that would change the cloud are refused.
    """

    def __init__(self, cloud):
        self._services = _CachingServices(cloud.as_service())

    def as_service(self):
        """Return the CloudServices; they only read, and make each call once."""
        return self._services


class _CachingServices:
    """Services whose interfaces cache their answers."""

    def __init__(self, services):
        self._services = services
        self._interfaces = {}

    def __contains__(self, name):
        return name in self._services

    def __getattr__(self, name):
        if name not in self._interfaces:
            self._interfaces[name] = _CachingInterface(getattr(self._services, name))
        return self._interfaces[name]


class _CachingInterface:
    """A ServiceInterface that calls each of its methods once for the same arguments."""

    def __init__(self, interface):
        self._interface = interface
        self._answers = {}

    def __getattr__(self, name):
        attribute = getattr(self._interface, name)
        if not callable(attribute):
            return attribute
        if not call_guard.only_reads(type(self._interface), name):
            raise TypeError(f'{name} changes the cloud, and an audit only reads it.')

        def read(*args, **kwargs):
            key = name, repr(args), repr(sorted(kwargs.items()))
            if key not in self._answers:
                self._answers[key] = attribute(*args, **kwargs)
            return self._answers[key]
        return read
