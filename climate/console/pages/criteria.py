# SPDX-License-Identifier: Apache-2.0
"""Translation of criteria for scripts: the language of the command is known here only once."""
import argparse
import json

import flask

from climate.client.commands import arguments

blueprint = flask.Blueprint('criteria', __name__)


@blueprint.get('/criteria')
def translate():
    """Translate criteria as people write them, such as "vcpus>=16 gpu=A100", into JSON text."""
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
