# SPDX-License-Identifier: Apache-2.0
"""The console as one WSGI application."""
import dataclasses

import flask
import werkzeug.exceptions as http

from climate import version
from climate.client import errors
from climate.conf import checking
from climate.console import guards
from climate.console import login
from climate.console import login_pages
from climate.console import rest
from climate.console import session_cookie
from climate.console import shares
from climate.console import texts
from climate.console.pages import capacity
from climate.console.pages import leases
from climate.console.pages import notifications
from climate.console.pages import operator
from climate.console.pages import timeline
from climate.console.pages import translations

_PAGES = (timeline, translations, leases, capacity, notifications, operator)
# The pages in the bar above each page: (endpoint, key of the text).
_NAVIGATION = (('timeline.show', 'nav.timeline'), ('leases.several', 'nav.leases'),
               ('capacity.show', 'nav.capacity'),
               ('notifications.show', 'nav.notifications'), ('operator.show', 'nav.operator'))
_OF_ADMINS = ('operator.show',)


@dataclasses.dataclass(frozen=True)
class NavigationLink:
    """A link to a page.

    :ivar text: the key of its text.
    :ivar current: whether the page, or one below it, is being shown.
    """

    path: str
    text: str
    current: bool


def build(conf, region=None, method=None):
    """Build the WSGI application.

    :param region: the dogpile region for sessions; None: the one that [cache] describes.
    :param method: how users log in, as ``login.KeystoneLogin``; None: through Keystone.
    """
    checking.url(conf, 'console', 'auth_url')
    checking.url(conf, 'console', 'endpoint_override')
    checking.file(conf, 'console', 'cafile')
    app = flask.Flask(__name__)
    app.config['MAX_CONTENT_LENGTH'] = conf.console.max_body_bytes
    # The addresses of static files contain the version of Climate.
    app.config['SEND_FILE_MAX_AGE_DEFAULT'] = 3600
    app.session_interface = session_cookie.Interface(
        region or session_cookie.region(conf), conf.console.session_minutes * 60)
    app.extensions['login'] = method or login.KeystoneLogin(conf)
    app.extensions['api'] = rest.Api(conf)
    app.jinja_env.globals.update(
        t=texts.markup, moment=texts.moment, number=texts.number, event=texts.event, asset=_asset,
        navigation=_navigation, default_domain=conf.console.default_domain)
    guards.install(app)
    shares.install(app, conf.console.threads)
    for module in (login_pages, rest, *_PAGES):
        app.register_blueprint(module.blueprint)
    app.add_url_rule('/healthcheck', 'health', lambda: ('OK', {'Content-Type': 'text/plain'}))
    app.register_error_handler(http.HTTPException, _http_error)
    app.register_error_handler(errors.ClientError, _client_error)
    return app


def _navigation():
    """Return the NavigationLinks of the user who is logged in."""
    admin, here = rest.is_admin(), flask.request.blueprint
    return [NavigationLink(flask.url_for(endpoint), text, endpoint.partition('.')[0] == here)
            for endpoint, text in _NAVIGATION if admin or endpoint not in _OF_ADMINS]


def _asset(name):
    """Return the address of a static file, with the version of Climate."""
    return flask.url_for('static', filename=name, v=version.text())


def _http_error(error):
    answer = flask.make_response(_problem(
        error.code, texts.text(error.description or error.name)))
    if getattr(error, 'retry_after', None) is not None:
        answer.headers['Retry-After'] = str(error.retry_after)
    return answer


def _client_error(error):
    status = getattr(error, 'status', None)
    if status == 401:
        flask.session.end()
        return flask.redirect(flask.url_for('login.show', next=guards.path()))
    if isinstance(error, errors.Unreachable):
        # The message has the address of climate-api, which does not help a user.
        return _problem(502, texts.text('rest.silent'))
    return _problem(status or 502, str(error))


def _problem(status, words):
    """Answer with a problem: a page for people, JSON for scripts."""
    if guards.is_of_script():
        return {'error_message': words}, status
    return flask.render_template('problem.html', status=status, words=words), status
