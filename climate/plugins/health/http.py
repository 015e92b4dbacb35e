# SPDX-License-Identifier: Apache-2.0
"""The source of health "http": it asks a URL, such as that of a monitoring system."""
import json
import logging
import threading

import requests
import urllib3

from climate.plugins.health import base

#: What the answer says of a resource that works.
HEALTHY = 'healthy'
_LONGEST_ANSWER = 10 * 2 ** 20
_LONGEST_REASON = 300
_HOSTS = 'host'
# Whether this thread asks. urllib3 then logs the path and the query of the URL at DEBUG.
_ASKING = threading.local()
logging.getLogger('urllib3.connectionpool').addFilter(
    lambda record: not getattr(_ASKING, 'now', False))


class Http(base.Source):
    """Asks [health] http_url for a JSON object: {name: "healthy" or why it is not}.

    A resource that the answer does not name works. The name of a host is its hypervisor hostname;
    resources of other pools are named POOL/NAME.
    """

    def sick(self, resources):
        said = self._ask()
        found = {}
        for each in resources:
            name = each.name if each.pool == _HOSTS else f'{each.pool}/{each.name}'
            if said.get(name, HEALTHY) != HEALTHY:
                found[each.id] = said[name][:_LONGEST_REASON]
        return found

    def _ask(self):
        conf = self.conf.health
        if not conf.http_url:
            raise base.Unreachable('[health] http_url is not set')
        _ASKING.now = True
        try:
            with requests.get(conf.http_url, timeout=conf.http_timeout_seconds, stream=True,
                              verify=conf.http_ca_file or True) as answer:
                answer.raise_for_status()
                raw = answer.raw.read(_LONGEST_ANSWER + 1, decode_content=True)
            if len(raw) > _LONGEST_ANSWER:
                raise base.Unreachable('[health] http_url answers with more than 10 MiB')
            said = json.loads(raw)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            # Without the cause, which shows the URL. That may have a password.
            raise base.Unreachable(f'[health] http_url: {_why(error)}') from None
        finally:
            _ASKING.now = False
        if not isinstance(said, dict) or not all(isinstance(each, str) for each in said.values()):
            raise base.Unreachable('[health] http_url answers with something else than a JSON '
                                   'object of texts')
        return said


def _why(error):
    """Return in words why no answer can be used, without the words of the error."""
    if isinstance(error, requests.HTTPError):
        return f'status {error.response.status_code}'
    root = error
    while root.__context__ is not None:
        root = root.__context__
    if isinstance(root, OSError) and root.strerror:
        return root.strerror
    return type(error).__name__
