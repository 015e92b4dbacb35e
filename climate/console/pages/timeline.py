# SPDX-License-Identifier: Apache-2.0
"""The page of the timeline; scripts ask for what is in sight."""
import argparse
import json

import flask

from climate.client.commands import arguments
from climate.console import rest

blueprint = flask.Blueprint('timeline', __name__)

_POOL_PATH = '/resources/'


@blueprint.get('/')
def show():
    return flask.render_template('timeline.html', pools=_pools())


@blueprint.get('/timeline/criteria')
def criteria():
    """Translate criteria as people write them, such as "vcpus>=16 gpu==A100", into JSON text."""
    text = flask.request.args.get('text', '').strip()
    if text.startswith('['):
        return {'criteria': text}
    try:
        found = [arguments.requirement(word) for word in text.split()]
    except argparse.ArgumentTypeError as error:
        return {'problem': str(error)}
    if len(found) > 1:
        found = [['and', *found]]
    return {'criteria': json.dumps(found[0]) if found else ''}


def _pools():
    """Return the names of the enabled pools, from the OpenAPI document of climate-api."""
    document = rest.client().http.call('GET', '/openapi').json()
    return sorted({path.split('/')[2] for path in document['paths']
                   if path.startswith(_POOL_PATH)})
