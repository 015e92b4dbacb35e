# SPDX-License-Identifier: Apache-2.0
"""The page capacity."""
import flask

blueprint = flask.Blueprint('capacity', __name__, url_prefix='/capacity')


@blueprint.get('')
def show():
    return flask.render_template('capacity.html')
