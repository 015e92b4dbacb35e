# SPDX-License-Identifier: Apache-2.0
"""The pools that the service has."""

_PATH = '/resources/'


def names(client):
    """Return the names of the enabled pools, from the OpenAPI document of climate-api."""
    document = client.http.call('GET', '/openapi').json()
    return sorted({path.split('/')[2] for path in document['paths'] if path.startswith(_PATH)})
