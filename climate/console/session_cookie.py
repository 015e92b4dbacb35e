# SPDX-License-Identifier: Apache-2.0
"""Sessions of browsers: a cookie with an id, and the session on the server.

The browser has a random id in a cookie. The session itself, with the token, is in a cache that
several consoles may share. It is stored under a hash of the id and encrypted with a key made from
the id, so that a reader of the cache cannot use the tokens in it.
"""
import base64
import hashlib
import json
import secrets

from cryptography import fernet
import flask
from flask import sessions
from oslo_cache import core as cache

from climate import errors
from climate.console import session_memory

COOKIE = 'climate_session'
_ID_BYTES = 32
_IN_PROCESS = 'dogpile.cache.memory'


def region(conf):
    """Return the dogpile region that [cache] describes.

    :raises errors.ConfigurationError: its backend needs a Python module that is not installed.
    """
    cache_region = cache.create_region()
    if conf.cache.enabled and conf.cache.backend == _IN_PROCESS:
        return cache_region.configure(_IN_PROCESS, arguments={
            'cache_dict': session_memory.SessionMemory(conf.console.session_minutes * 60)})
    try:
        cache.configure_cache_region(conf, cache_region)
    except ImportError as error:
        raise errors.ConfigurationError(
            f'[cache] backend = "{conf.cache.backend}" needs the Python module {error.name}, which '
            'is not installed. The extra "memcached" of Climate installs that of '
            'dogpile.cache.memcached.') from error
    return cache_region


class Session(dict, sessions.SessionMixin):
    """The session of a browser: empty, or the Identity that is logged in.

    :ivar id: the id in the browser's cookie; None: the browser has no valid one.
    """

    def __init__(self, session_id=None, content=()):
        super().__init__(content)
        self.id = session_id
        self.ended_id = None
        self.modified = False

    def begin(self, content):
        """Replace the session by one with a new id, so that no id from before the login counts."""
        self.end()
        self.id = secrets.token_urlsafe(_ID_BYTES)
        self.update(content, csrf_token=secrets.token_urlsafe(_ID_BYTES))

    def end(self):
        """Clear the session; its id is no longer valid."""
        self.ended_id = self.ended_id or self.id
        self.id = None
        self.clear()
        self.modified = True


class Interface(sessions.SessionInterface):
    """Loads and stores the sessions of a Flask application.

    :param region: a dogpile region.
    :param seconds: the lifetime of a session.
    """

    def __init__(self, region, seconds):
        self._region = region
        self._seconds = seconds

    def open_session(self, app, request):
        session_id = request.cookies.get(COOKIE, '')
        stored = self._region.get(_name(session_id), expiration_time=self._seconds) if (
            session_id) else None
        content = _decrypted(session_id, stored) if stored else None
        return Session(session_id, content) if content is not None else Session()

    def save_session(self, app, session, response):
        response.headers['Vary'] = 'Cookie'
        if not session.modified:
            return
        if session.ended_id:
            self._region.delete(_name(session.ended_id))
        where = {'path': '/', 'httponly': True, 'samesite': 'Lax',
                 'secure': flask.request.is_secure}
        if session.id is None:
            response.delete_cookie(COOKIE, **where)
            return
        self._region.set(_name(session.id), _encrypted(session.id, dict(session)))
        response.set_cookie(COOKIE, session.id, max_age=self._seconds, **where)


def _name(session_id):
    return 'climate-console-' + hashlib.sha256(b'name:' + session_id.encode()).hexdigest()


def _cipher(session_id):
    key = hashlib.sha256(b'key:' + session_id.encode()).digest()
    return fernet.Fernet(base64.urlsafe_b64encode(key))


def _encrypted(session_id, content):
    return _cipher(session_id).encrypt(json.dumps(content).encode()).decode()


def _decrypted(session_id, stored):
    """Return the content of a session, or None if it is not readable."""
    try:
        return json.loads(_cipher(session_id).decrypt(stored.encode()))
    except (fernet.InvalidToken, ValueError, AttributeError):
        return None
