# SPDX-License-Identifier: Apache-2.0
"""The global options that select the cloud and the user. Nothing slow is imported here."""
import argparse
from collections.abc import Mapping

# (option, help). Each has an environment variable of the same name: --os-auth-url, OS_AUTH_URL.
_LOGIN = (
    ('auth-type', 'Authentication type: password, token, v3applicationcredential, none, '
                  'http_basic, admin_token and others. Default: the type that fits the other '
                  'options, else password'),
    ('auth-url', 'URL of the identity service'),
    ('endpoint', 'URL of the reservation service, for none, http_basic and admin_token'),
    ('username', 'User name'),
    ('user-id', 'User id'),
    ('user-domain-name', 'Domain of the user, by name'),
    ('user-domain-id', 'Domain of the user, by id'),
    ('password', 'Password; a terminal prompts for it if it is missing'),
    ('project-name', 'Project, by name'),
    ('project-id', 'Project, by id'),
    ('project-domain-name', 'Domain of the project, by name'),
    ('project-domain-id', 'Domain of the project, by id'),
    ('system-scope', 'Scope of the token: the whole system instead of a project'),
    ('trust-id', 'Trust to use'),
    ('token', 'An existing token'),
    ('application-credential-id', 'Application credential, by id'),
    ('application-credential-name', 'Application credential, by name'),
    ('application-credential-secret', 'Its secret'),
)
_WHERE = (
    ('region-name', 'Region'),
    ('interface', 'Which endpoint of the catalogue: public, internal or admin'),
    ('reservation-endpoint-override', 'URL of the reservation service, instead of the one '
                                      'in the catalogue'),
    ('compute-endpoint-override', 'URL of Nova, for the names of servers'),
    ('cacert', 'File of certificate authorities to trust'),
    ('cert', 'File of the client certificate'),
    ('key', 'File of its key'),
)
# Any of these, as an option or as a variable, selects a cloud.
_MEANT = ('cloud', 'client_config_file', 'auth_type', 'auth_plugin', 'auth_url', 'endpoint',
          'reservation_endpoint_override', 'token')


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the global options, with those of the usual authentication types."""
    group = parser.add_argument_group(
        'Cloud', 'Each option can also be an environment variable, such as OS_CLOUD. Without '
        'any of them the client uses a standalone Climate on this machine (make run).')
    group.add_argument('--os-cloud', metavar='NAME', help='Cloud of clouds.yaml')
    for name, text in (*_LOGIN, *_WHERE):
        group.add_argument(f'--os-{name}', metavar='TEXT', help=text)
    group.add_argument('--insecure', action='store_true', default=None,
                       help='Do not check the certificates of servers')


def add_others(parser: argparse.ArgumentParser, argv: list[str],
               environ: Mapping[str, str]) -> None:
    """Add the options of other authentication types if `argv` has options that are unknown."""
    known = set(parser._option_string_actions)
    words = [word.partition('=')[0] for word in argv if word.startswith('--os-')]
    if all(any(option.startswith(word) for option in known) for word in words):
        return
    from climate.client import auth_types
    for name in auth_types.option_names(_auth_type(argv, environ)):
        option = f'--os-{name}'
        if option not in known:
            parser.add_argument(option, metavar='TEXT', help=argparse.SUPPRESS)
            known.add(option)


def given(options: argparse.Namespace, environ: Mapping[str, str], name: str) -> str | None:
    """Return the value of --os-`name` or else of OS_`NAME`; None if both are absent or empty."""
    name = name.replace('-', '_')
    return getattr(options, f'os_{name}', None) or environ.get(f'OS_{name.upper()}') or None


def where(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return {os_...: value} of the endpoints and certificates, from options or variables.

    A cloud of clouds.yaml has its own; the variables win over them, as with other commands of
    OpenStack.
    """
    names = [name.replace('-', '_') for name, _text in _WHERE]
    return {f'os_{name}': given(options, environ, name) for name in names}


def cloud_is_meant(options: argparse.Namespace, environ: Mapping[str, str]) -> bool:
    """Return whether an option or a variable selects a cloud; the URL of Nova alone does not."""
    return (any(given(options, environ, name) for name in _MEANT)
            or any(value for name, value in vars(options).items()
                   if name.startswith('os_') and name != 'os_compute_endpoint_override'))


def _auth_type(argv: list[str], environ: Mapping[str, str]) -> str | None:
    finder = argparse.ArgumentParser(add_help=False)
    finder.add_argument('--os-auth-type')
    known, _rest = finder.parse_known_args(argv)
    return known.os_auth_type or environ.get('OS_AUTH_TYPE')
