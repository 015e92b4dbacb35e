# SPDX-License-Identifier: Apache-2.0
"""Login by a cloud of clouds.yaml, by OS_* options, or to a standalone Climate.

openstacksdk takes half a second to import, so it is used for clouds.yaml only. All else is done
with keystoneauth, which has the same options and the same authentication types.
"""
import argparse
from collections.abc import Mapping
import getpass
import sys
import typing

from keystoneauth1 import exceptions as foreign
from keystoneauth1 import session as sessions

from climate.client import auth_types
from climate.client import errors
from climate.client import http
from climate.client import options as opts
from climate.client import service
from climate.client import standalone

_HOW = ('Set OS_CLOUD (--os-cloud) to a cloud of clouds.yaml, or set the variables of a login '
        'such as OS_AUTH_URL; "climate help options" lists them. "make run" starts a Climate on '
        'this machine.')
_BY_PASSWORD = ('password', 'v2password', 'v3password', 'http_basic')
_TRUE = ('1', 'true', 'yes', 'on')


def client(options: argparse.Namespace, environ: Mapping[str, str]) -> service.Client:
    """Make the client of the service that the options and the environment select.

    :raises NotConfigured: options are missing; the message names them.
    """
    try:
        if opts.given(options, environ, 'cloud') or environ.get('OS_CLIENT_CONFIG_FILE'):
            return _of_cloud(options, environ)
        if opts.cloud_is_meant(options, environ):
            return _of_options(options, environ)
    except foreign.ClientException as error:
        raise http.from_foreign(error) from error
    return _of_standalone(options, environ)


def _of_cloud(options: argparse.Namespace, environ: Mapping[str, str]) -> service.Client:
    from openstack import config
    from openstack import exceptions as sdk_exceptions
    file = environ.get('OS_CLIENT_CONFIG_FILE')
    ours = argparse.Namespace(**{
        **{name: value for name, value in vars(options).items() if name.startswith('os_')},
        **opts.where(options, environ),
        'os_auth_type': opts.given(options, environ, 'auth_type'),
        'insecure': _insecure(options, environ) or None})
    name = opts.given(options, environ, 'cloud')
    try:
        loader = config.OpenStackConfig(config_files=[file] if file else None,
                                        app_name='climate', pw_func=_ask_password)
        of_file = loader.get_one(cloud=name, argparse=ours, validate=False)
        # Without this, the login in the file would win.
        explicit = _login_of(of_file.config['auth_type'], options, environ)
        region = loader.get_one(cloud=name, argparse=ours, **explicit)
        session = region.get_session()
    except sdk_exceptions.ConfigException as error:
        raise errors.NotConfigured(str(error)) from error
    except (AttributeError, TypeError, ValueError) as error:
        # The SDK does not check what is in the file.
        raise errors.NotConfigured(
            f'Cloud "{name}" in {file or "clouds.yaml"} cannot be '
            f'used: {error}. Write "clouds: {{NAME: {{auth: {{auth_url: URL, …}}}}}}".') from error
    return service.Client(
        session, interface=region.get_interface('reservation'),
        region_name=region.get_region_name('reservation'),
        endpoint_override=region.config.get('reservation_endpoint_override'),
        compute_endpoint=region.config.get('compute_endpoint_override'))


def _of_options(options: argparse.Namespace, environ: Mapping[str, str]) -> service.Client:
    def given(name: str) -> str | None:
        return opts.given(options, environ, name)

    auth_type = given('auth_type') or given('auth_plugin') or _usual_type(given)
    loader = auth_types.loader(auth_type)
    if auth_type in _BY_PASSWORD:
        if not (given('username') or given('user_id')):
            raise errors.NotConfigured('A user is missing: set OS_USERNAME (--os-username).')
        if not given('password'):
            options.os_password = _ask_password()
    auth = loader.load_from_options_getter(lambda opt: _value(opt, options, environ))
    key, cert = given('key'), given('cert')
    session = sessions.Session(
        auth=auth, verify=False if _insecure(options, environ) else given('cacert') or True,
        cert=(cert, key) if cert and key else cert)
    return service.Client(session, interface=given('interface'), region_name=given('region_name'),
                          endpoint_override=given('reservation_endpoint_override'),
                          compute_endpoint=given('compute_endpoint_override'))


def _of_standalone(options: argparse.Namespace, environ: Mapping[str, str]) -> service.Client:
    address = standalone.find(environ)
    if address is None:
        raise errors.NotConfigured(
            'No cloud is selected, and no Climate runs on this machine.', hint=_HOW)
    from keystoneauth1 import token_endpoint
    import requests
    # It is on this machine, which a proxy cannot reach.
    direct = requests.Session()
    direct.trust_env = False
    session = sessions.Session(auth=token_endpoint.Token(address.url, address.token),
                               session=direct)
    return service.Client(session, compute_endpoint=opts.given(options, environ,
                                                               'compute_endpoint_override'))


def _login_of(auth_type: str, options: argparse.Namespace, environ: Mapping[str, str]
              ) -> dict[str, typing.Any]:
    """Return the options of an authentication type that were given, as openstacksdk takes them."""
    login = {opt.dest: value for opt in auth_types.loader(auth_type).get_options()
             if (value := _given(opt, options, environ)) is not None}
    return {'auth': login} if login else {}


def _insecure(options: argparse.Namespace, environ: Mapping[str, str]) -> bool:
    return bool(options.insecure) or (environ.get('OS_INSECURE') or '').lower() in _TRUE


def _usual_type(given: typing.Callable[[str], str | None]) -> str:
    """Guess the authentication type from the other options."""
    if given('endpoint') and not given('auth_url'):
        if given('token'):
            return 'admin_token'
        return 'http_basic' if given('username') else 'none'
    if given('reservation_endpoint_override') and not given('auth_url'):
        return 'none'
    if given('application_credential_secret'):
        return 'v3applicationcredential'
    if given('token') and not given('password'):
        return 'token'
    return 'password'


def _value(opt: typing.Any, options: argparse.Namespace, environ: Mapping[str, str]
           ) -> str | None:
    value = _given(opt, options, environ)
    return typing.cast('str | None', opt.default) if value is None else value


def _given(opt: typing.Any, options: argparse.Namespace, environ: Mapping[str, str]
           ) -> str | None:
    for one in (opt, *opt.deprecated):
        value = opts.given(options, environ, one.name) or opts.given(options, environ, one.dest)
        if value is not None:
            return value
    return None


def _ask_password(prompt: str | None = None) -> str:
    if not sys.stdin.isatty():
        raise errors.NotConfigured(
            'A password is missing: set OS_PASSWORD (--os-password).')
    return getpass.getpass(prompt or 'Password: ', stream=sys.stderr)
