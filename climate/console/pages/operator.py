# SPDX-License-Identifier: Apache-2.0
"""The page operator."""
import flask

blueprint = flask.Blueprint('operator', __name__, url_prefix='/operator')


@blueprint.get('')
def show():
    return flask.render_template('operator.html')
