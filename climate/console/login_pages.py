# SPDX-License-Identifier: Apache-2.0
"""The pages by which users log in and out, and switch to another project."""
import dataclasses

import flask

from climate.console import login

blueprint = flask.Blueprint('login', __name__)


@blueprint.get('/login')
def show():
    """Show the form; an address with a key logs in at once."""
    method = flask.current_app.extensions['login']
    if not method.asks and 'key' in flask.request.args:
        return _log_in(method, flask.request.args)
    return _form(method, flask.request.args, None)


@blueprint.post('/login')
def submit():
    return _log_in(flask.current_app.extensions['login'], flask.request.form)


@blueprint.post('/logout')
def leave():
    flask.current_app.extensions['login'].log_out(_identity())
    flask.session.end()
    return flask.redirect(flask.url_for('login.show'))


@blueprint.get('/logged-in')
def done():
    """Tell a user who logged in again in another window to go back to the first one."""
    return flask.render_template('logged_in.html')


@blueprint.get('/rest/session')
def session():
    """Return what a page needs after its user has logged in again."""
    return {'csrf_token': flask.session['csrf_token'],
            'project_id': flask.session['identity']['project_id']}


@blueprint.get('/projects')
def projects():
    """List the projects of the user."""
    return _projects(None)


@blueprint.post('/projects')
def switch():
    """Continue in another project, without a new login."""
    method, form = flask.current_app.extensions['login'], flask.request.form
    try:
        identity = method.switch(_identity(), form.get('project_id', ''))
    except login.LoginFailed as error:
        return _projects(str(error)), 403
    flask.session.begin({'identity': dataclasses.asdict(identity)})
    return flask.redirect(_local(form.get('next')))


def _projects(problem):
    try:
        found = flask.current_app.extensions['login'].projects(_identity())
    except login.LoginFailed as error:
        found, problem = [], str(error)
    return flask.render_template('projects.html', projects=found, problem=problem,
                                 following=_local(flask.request.values.get('next')))


def _identity():
    return login.Identity(**flask.session['identity'])


def _log_in(method, form):
    try:
        identity = method.log_in(form)
    except login.LoginFailed as error:
        return _form(method, form, str(error)), 401
    flask.session.begin({'identity': dataclasses.asdict(identity)})
    return flask.redirect(_local(form.get('next')))


def _form(method, given, problem):
    # The form keeps its values except secrets.
    kept = {name: given.get(name, '') for name in (*login.FIELDS, *login.CREDENTIAL_FIELDS)
            if name not in login.SECRETS}
    return flask.render_template('login.html', asks=method.asks, given=kept, problem=problem,
                                 following=_local(given.get('next')))


def _local(path):
    """Return a path of this console; replace any other, as in a forged link, by the first page."""
    harmless = path and path.startswith('/') and not path.startswith(('//', '/\\'))
    return path if harmless and path.isprintable() else '/'
