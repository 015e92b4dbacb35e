# SPDX-License-Identifier: Apache-2.0
"""The source of health "http", which reads a URL such as that of a monitoring system."""
import json
import logging
import threading

import requests
import urllib3

from climate.plugins.health import sources

#: The text for a resource that works.
HEALTHY = 'healthy'
_LONGEST_ANSWER = 10 * 2 ** 20
_LONGEST_REASON = 300
_HOSTS = 'host'
# `now` is True while this thread reads the URL. Then urllib3 must not log the URL at DEBUG,
# because it may contain a password.
_READING = threading.local()
logging.getLogger('urllib3.connectionpool').addFilter(
    lambda record: not getattr(_READING, 'now', False))


class Http(sources.Source):
    """Reads a JSON object from [health] http_url: {name: "healthy" or why it is not}.

    A resource whose name is missing is healthy. Hosts are named by their hypervisor hostname, and
    resources of other pools as POOL/NAME.
    """

    def sick(self, resources):
        states = self._read()
        reasons = {}
        for resource in resources:
            name = (resource.name if resource.pool == _HOSTS
                    else f'{resource.pool}/{resource.name}')
            if states.get(name, HEALTHY) != HEALTHY:
                reasons[resource.id] = states[name][:_LONGEST_REASON]
        return reasons

    def _read(self):
        conf = self.conf.health
        if not conf.http_url:
            raise sources.SourceUnreachable('[health] http_url is not set')
        _READING.now = True
        try:
            with requests.get(conf.http_url, timeout=conf.http_timeout_seconds, stream=True,
                              verify=conf.http_ca_file or True) as answer:
                answer.raise_for_status()
                raw = answer.raw.read(_LONGEST_ANSWER + 1, decode_content=True)
            if len(raw) > _LONGEST_ANSWER:
                raise sources.SourceUnreachable('[health] http_url answers with more than 10 MiB')
            states = json.loads(raw)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            # Drop the cause: its text contains the URL, which may contain a password.
            raise sources.SourceUnreachable(f'[health] http_url: {_why(error)}') from None
        finally:
            _READING.now = False
        if not isinstance(states, dict) or not all(
                isinstance(state, str) for state in states.values()):
            raise sources.SourceUnreachable('[health] http_url does not answer with a JSON object '
                                            'whose values are strings')
        return states


def _why(error):
    """Return the reason why the read failed, without the text of the error."""
    if isinstance(error, requests.HTTPError):
        return f'status {error.response.status_code}'
    root = error
    while root.__context__ is not None:
        root = root.__context__
    if isinstance(root, OSError) and root.strerror:
        return root.strerror
    return type(error).__name__
