# SPDX-License-Identifier: Apache-2.0
"""Login of users, and their projects: through Keystone, or with the key of a standalone."""
import dataclasses
import secrets

from keystoneauth1 import exceptions as foreign
from keystoneauth1 import session as sessions
from keystoneauth1.identity import v3
import requests

FIELDS = ('username', 'password', 'user_domain', 'project', 'project_domain')
CREDENTIAL_FIELDS = ('credential_id', 'credential_secret')
SECRETS = ('password', 'credential_secret')


class LoginFailed(Exception):
    """The login failed; the message is the key of a text for the user."""


@dataclasses.dataclass(frozen=True)
class Identity:
    """A user who is logged in.

    :ivar token: the token for climate-api (X-Auth-Token).
    :ivar endpoint: the URL of climate-api, with its version.
    :ivar roles: the names of the user's roles in the project.
    """

    token: str
    endpoint: str
    user: str
    user_id: str
    project: str
    project_id: str
    roles: tuple


@dataclasses.dataclass(frozen=True, order=True)
class Project:
    """A project in which a user has a role."""

    name: str
    id: str


class KeystoneLogin:
    """Logs users in with a password, or with an application credential."""

    #: Whether the login page asks for a password.
    asks = True

    def __init__(self, conf):
        self._conf = conf
        # One pool of connections for all users.
        self._connections = requests.Session()
        self._connections.verify = conf.console.cafile or True

    def log_in(self, form):
        """Return the Identity of a user.

        :param form: {name of a field: text}, with either FIELDS or CREDENTIAL_FIELDS.
        :raises LoginFailed: Keystone refuses, does not answer, or knows no reservation service.
        """
        return self._identity(_method(form, self._conf.console.auth_url), 'login.refused')

    def projects(self, identity):
        """Return the Projects to which the user of an Identity can switch, by name.

        :raises LoginFailed: the token is over, or Keystone does not answer.
        """
        session = self._session(v3.Token(self._conf.console.auth_url, identity.token))
        try:
            answer = session.get(f'{self._conf.console.auth_url.rstrip("/")}/auth/projects',
                                 headers={'X-Auth-Token': identity.token}, authenticated=False)
            return sorted(Project(each['name'], each['id']) for each in answer.json()['projects']
                          if each.get('enabled', True))
        except foreign.Unauthorized as error:
            raise LoginFailed('login.over') from error
        except (foreign.ClientException, ValueError, KeyError, TypeError) as error:
            raise LoginFailed('login.silent') from error

    def switch(self, identity, project_id):
        """Return the Identity of the same user in another project.

        :raises LoginFailed: Keystone refuses, does not answer, or knows no reservation service.
        """
        return self._identity(v3.Token(self._conf.console.auth_url, identity.token,
                                       project_id=project_id), 'projects.refused')

    def _identity(self, auth, refused):
        """Return the Identity that an authentication plugin gets.

        :param refused: the key of the text if Keystone refuses.
        """
        session = self._session(auth)
        try:
            access = session.auth.get_access(session)
            endpoint = self._conf.console.endpoint_override or session.get_endpoint(
                service_type='reservation', interface=self._conf.console.interface,
                region_name=self._conf.region_name)
        except (foreign.Unauthorized, foreign.Forbidden) as error:
            raise LoginFailed(refused) from error
        except foreign.CatalogException as error:
            raise LoginFailed('login.no_service') from error
        except foreign.ClientException as error:
            raise LoginFailed('login.silent') from error
        if not access.project_id:
            raise LoginFailed('login.no_project')
        if not endpoint:
            raise LoginFailed('login.no_service')
        return Identity(access.auth_token, endpoint.rstrip('/'), access.username, access.user_id,
                        access.project_name, access.project_id, tuple(access.role_names))

    def log_out(self, identity):
        """Revoke a token. Ignore failures, because tokens expire."""
        session = self._session(v3.Token(self._conf.console.auth_url, identity.token))
        try:
            session.delete(f'{self._conf.console.auth_url.rstrip("/")}/auth/tokens',
                           headers={'X-Auth-Token': identity.token,
                                    'X-Subject-Token': identity.token}, authenticated=False)
        except foreign.ClientException:
            return

    def _session(self, auth):
        return sessions.Session(auth=auth, session=self._connections,
                                verify=self._conf.console.cafile or True,
                                timeout=self._conf.console.answer_seconds)


def _method(form, auth_url):
    """Return the keystoneauth plugin for a filled form.

    :raises LoginFailed: a field is empty.
    """
    by_credential = bool(form.get('credential_id'))
    fields = CREDENTIAL_FIELDS if by_credential else FIELDS
    if not all(form.get(name) for name in fields):
        raise LoginFailed('login.incomplete')
    if by_credential:
        return v3.ApplicationCredential(
            auth_url, application_credential_id=form['credential_id'],
            application_credential_secret=form['credential_secret'])
    return v3.Password(auth_url, username=form['username'], password=form['password'],
                       user_domain_name=form['user_domain'], project_name=form['project'],
                       project_domain_name=form['project_domain'])


class KeyLogin:
    """Logs in every caller who has the key, always as the same user. For a standalone.

    :param identities: the Identities of the user, one for each project; the first one logs in.
    :ivar key: the secret; it is part of the address that the standalone prints.
    """

    asks = False

    def __init__(self, *identities):
        self._identities = identities
        self.key = secrets.token_urlsafe(16)

    def log_in(self, form):
        """Return the Identity.

        :raises LoginFailed: the key is wrong.
        """
        if not secrets.compare_digest(form.get('key', '').encode(), self.key.encode()):
            raise LoginFailed('login.wrong_key')
        return self._identities[0]

    def projects(self, identity):
        """Return the Projects of the user."""
        return sorted(Project(each.project, each.project_id) for each in self._identities)

    def switch(self, identity, project_id):
        """Return the Identity of the user in another project.

        :raises LoginFailed: there is no such project.
        """
        for each in self._identities:
            if each.project_id == project_id:
                return each
        raise LoginFailed('projects.refused')

    def log_out(self, identity):
        """Do nothing: there is no token to revoke."""
