# SPDX-License-Identifier: Apache-2.0
"""The source of health "http": it asks a URL, such as that of a monitoring system."""
import json

import requests
import urllib3

from climate.plugins.health import base

#: What the answer says of a resource that works.
HEALTHY = 'healthy'
_LONGEST_ANSWER = 10 * 2 ** 20
_LONGEST_REASON = 300
_HOSTS = 'host'


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
        try:
            with requests.get(conf.http_url, timeout=conf.http_timeout_seconds, stream=True,
                              verify=conf.http_ca_file or True) as answer:
                answer.raise_for_status()
                raw = answer.raw.read(_LONGEST_ANSWER + 1, decode_content=True)
            if len(raw) > _LONGEST_ANSWER:
                raise base.Unreachable(f'{conf.http_url} answers with more than 10 MiB')
            said = json.loads(raw)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise base.Unreachable(f'{conf.http_url}: {error}') from error
        if not isinstance(said, dict) or not all(isinstance(each, str) for each in said.values()):
            raise base.Unreachable(f'{conf.http_url} answers with something else than a JSON '
                                   'object of texts')
        return said
