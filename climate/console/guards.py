# SPDX-License-Identifier: Apache-2.0
"""The checks of every request (origin, login, CSRF token), and the headers of every answer."""
import secrets
from urllib import parse

import flask
import werkzeug.exceptions as http

_SAFE = ('GET', 'HEAD', 'OPTIONS')
#: The routes that need no login, by the names of their functions.
OPEN = ('static', 'login.show', 'login.submit', 'health')
# Scripts send the project that their page shows.
_PROJECT = 'X-Climate-Project'
_HEADERS = {
    # No inline script or style, and nothing of a foreign host.
    'Content-Security-Policy': (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
}


def install(app):
    """Check every request of a Flask application."""
    app.before_request(_refuse_foreign)
    app.before_request(_ask_for_login)
    app.before_request(_refuse_other_project)
    app.before_request(_refuse_without_csrf_token)
    app.after_request(_add_headers)


def _refuse_foreign():
    """Refuse a change that a page of another origin sends."""
    if flask.request.method in _SAFE:
        return
    origin = flask.request.headers.get('Origin')
    if origin is not None and _host_of(origin) != flask.request.host:
        raise http.Forbidden('guard.foreign_origin')


def _host_of(origin):
    try:
        return parse.urlsplit(origin).netloc
    except ValueError:
        return None


def _ask_for_login():
    if flask.request.endpoint in OPEN or 'identity' in flask.session:
        return None
    if is_of_script():
        raise http.Unauthorized('guard.logged_out')
    following = path() if flask.request.method in _SAFE else None
    return flask.redirect(flask.url_for('login.show', next=following))


def is_of_script():
    """Return whether a script sent the request, and not a user who opened a page."""
    return flask.request.path.startswith('/rest/') or _PROJECT in flask.request.headers


def _refuse_other_project():
    """Refuse a request of a page that shows another project than the one of the session."""
    shown = flask.request.headers.get(_PROJECT)
    if shown is not None and flask.request.endpoint not in OPEN and (
            shown != flask.session['identity']['project_id']):
        raise http.Conflict('guard.other_project')


def _refuse_without_csrf_token():
    if flask.request.method in _SAFE or flask.request.endpoint in OPEN:
        return
    given = (flask.request.headers.get('X-CSRF-Token')
             or flask.request.form.get('csrf_token') or '')
    if not secrets.compare_digest(given.encode(), flask.session['csrf_token'].encode()):
        raise http.Forbidden('guard.csrf')


def _add_headers(response):
    response.headers.update(_HEADERS)
    # Caches may keep modules and styles, but no page of a user.
    if flask.request.endpoint != 'static':
        response.headers['Cache-Control'] = 'no-store'
    return response


def path():
    """Return the path of the request with its query."""
    query = flask.request.query_string.decode()
    return f'{flask.request.path}?{query}' if query else flask.request.path
