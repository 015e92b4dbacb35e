# SPDX-License-Identifier: Apache-2.0
"""The page timeline."""
import flask

blueprint = flask.Blueprint('timeline', __name__, url_prefix='/timeline')


@blueprint.get('')
def show():
    return flask.render_template('timeline.html')
