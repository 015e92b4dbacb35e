# SPDX-License-Identifier: Apache-2.0
"""Check the values and the names of the options in configuration files."""
import difflib
from importlib import metadata
import math
import os
from urllib import parse

from keystoneauth1 import exceptions
from keystoneauth1 import loading
from oslo_config import cfg
from oslo_config import types
from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)

#: The entry points in ``oslo.config.opts`` whose options Climate reads.
NAMESPACES = ('climate', 'climate.cloud', 'climate.plugins', 'oslo.log', 'oslo.messaging',
              'oslo.db', 'oslo.cache', 'oslo.limit', 'oslo.policy', 'oslo.middleware.cors',
              'oslo.middleware.healthcheck', 'oslo.middleware.http_proxy_to_wsgi',
              'oslo.service.service', 'keystonemiddleware.auth_token')


#: The errors of keystoneauth about a login of a type or in a group that does not exist.
NO_LOGIN = (exceptions.NoMatchingPlugin, cfg.NoSuchGroupError)


class WrongValue(errors.ConfigurationError):
    """An option has a wrong value. The message names the option, the value and the remedy."""


class UnreadableFile(errors.ConfigurationError):
    """A configuration file cannot be read. The message has the reason."""


def values(conf, options):
    """Read every option once, because oslo.config checks a value only when it is read.

    :param options: [(group, options)]
    :raises WrongValue: an option does not accept its value.
    """
    for group, group_options in options:
        name = str(getattr(group, 'name', group))
        section = conf if name == 'DEFAULT' else conf[name]
        for option in group_options:
            # Only the options of the login's auth_type are registered.
            if option.dest in section:
                _value(conf, section, name, option)


def _value(conf, section, group, option):
    try:
        value = section[option.dest]
    except ValueError as error:
        reason = str(error.__context__ or error)
    else:
        is_endless = isinstance(value, float) and not math.isfinite(value)
        if not _is_missing(option, value) and not is_endless:
            return
        reason = 'it is empty' if value is None else 'it is not a finite number'
    place, text = _source(conf, group, option)
    shown, why = ('***', '') if option.secret else (f'"{text}"', f' ({reason})')
    raise WrongValue(f'[{group}] {option.name} = {shown} in {place} cannot be used{why}. Write '
                     f'{_accepted(option.type)}.')


def _is_missing(option, value):
    """Return whether an option that needs a number was set to an empty value."""
    return value is None and option.default is not None and isinstance(
        option.type, types.Number)


def _accepted(kind):
    """Return a description of the values that a type of oslo.config accepts."""
    if isinstance(kind, types.Boolean):
        return 'true or false'
    if getattr(kind, 'choices', None):
        return 'one of ' + ', '.join(str(choice) for choice in kind.choices)
    if isinstance(kind, types.Number):
        noun = 'an integer' if isinstance(kind, types.Integer) else 'a number'
        limits = [f'{word} {limit:g}' for word, limit in (
            ('at least', kind.min), ('at most', kind.max)) if limit is not None]
        return ' of '.join(filter(None, (noun, ' and '.join(limits))))
    if getattr(kind, 'regex', None):
        return 'a text that is not empty'
    if isinstance(kind, types.List):
        return f'a list, separated by commas, of this: {_accepted(kind.item_type)}'
    if isinstance(kind, types.Dict):
        return 'pairs KEY:VALUE, separated by commas'
    return 'another value; see the sample configuration'


def _source(conf, group, option):
    """Return (the place where an option is set, its text)."""
    variable = f'OS_{group.upper()}__{option.dest.upper()}'
    if variable in os.environ:
        return f'the environment variable {variable}', os.environ[variable]
    for path, sections in reversed(_sections(conf)):
        for name in (option.dest, option.name):
            if name in sections.get(group, ()):
                return path, sections[group][name][-1]
    return 'the command line', getattr(conf._namespace, option.dest, '')


def url(conf, group, name):
    """Check that an option, if it is set, is the URL of an HTTP service.

    :raises WrongValue: the option is not such a URL.
    """
    text = conf[group].get(name)
    if not text:
        return
    try:
        parts = parse.urlsplit(text)
        usable = parts.scheme in ('http', 'https') and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # The URL is not shown, because it may contain a password.
        raise WrongValue(f'[{group}] {name} is not a URL. Write one such as '
                         'https://service.example.org:5000.')


def keystone(conf, group):
    """Check the address of Keystone in an option group with a login.

    :raises WrongValue: it is missing, or not a URL.
    """
    if 'auth_url' not in conf[group]:
        return
    if not conf[group].auth_url:
        raise WrongValue(f'[{group}] auth_url is not set. Write the URL of Keystone, such as '
                         'https://keystone.example.org:5000/v3.')
    url(conf, group, 'auth_url')


def no_login(group, error):
    """Return the WrongValue for one of NO_LOGIN."""
    return WrongValue(f'[{group}] auth_type or auth_section: {error}. Write password, '
                      'v3applicationcredential or another type of login that is installed.')


def file(conf, group, name):
    """Check that an option, if it is set, names a file that can be read.

    :raises WrongValue: the file cannot be read.
    """
    path = conf[group].get(name)
    if not path:
        return
    try:
        with open(path, 'rb'):
            pass
    except OSError as error:
        raise WrongValue(f'[{group}] {name} = "{path}" cannot be read: {error.strerror}. Name a '
                         'file that this user can read.') from error


def names(conf):
    """Check the configuration files; return a sentence for each unknown name.

    :raises WrongValue: an option of a library does not accept its value.
    :raises UnreadableFile: a file cannot be read.
    """
    known, files = _known(), _sections(conf)
    if known is None:
        return []
    # The groups that another group names as its auth_section.
    shared = {value for _path, sections in files for options in sections.values()
              for value in options.get('auth_section', ())}
    written, problems = {}, []
    for path, sections in files:
        for group, options in sections.items():
            listed = known.get(group, {})
            logins = _login_options(options) if group in shared or 'auth_type' in listed else ()
            if not listed and not logins:
                problems.append(f'{path}: there is no group [{group}].{_near(group, known)}')
                continue
            for name in options:
                if name not in listed and name not in logins:
                    problems.append(f'{path}: [{group}] has no option {name}.'
                                    f'{_near(name, [*listed, *logins])}')
                elif listed.get(name) is not None:
                    written.setdefault(group, {})[name] = listed[name]
    _check_written(files, written)
    return problems


def _check_written(files, written):
    """Check the values of {group: {name: option}} in the files."""
    conf = cfg.ConfigOpts()
    for group, options in written.items():
        for option in {option.dest: option for option in options.values()}.values():
            conf.register_opt(option, group=None if group == 'DEFAULT' else group)
    conf([], default_config_files=[path for path, _sections in files], default_config_dirs=[])
    values(conf, [(group, options.values()) for group, options in written.items()])


def _near(word, words):
    near = difflib.get_close_matches(word, sorted(words), 1)
    return f' Did you mean {near[0]}?' if near else ''


def _sections(conf):
    """Return [(path, {group: {option: [texts]}})] of the configuration files, in order."""
    paths = list(conf.config_file or ())
    for folder in conf.config_dirs:
        paths += sorted(os.path.join(folder, name) for name in os.listdir(folder)
                        if name.endswith('.conf')) if os.path.isdir(folder) else []
    files = []
    for path in dict.fromkeys(paths):
        sections = {}
        try:
            cfg.ConfigParser(path, sections).parse()
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(unreadable(error, path)) from error
        except cfg.ParseError as error:
            raise UnreadableFile(f'{path} cannot be read: {error}') from error
        files.append((path, sections))
    return files


def unreadable(error, path='a configuration file'):
    """Return the sentence about an OSError or a UnicodeDecodeError of a file."""
    if isinstance(error, OSError):
        return f'{error.filename or path} cannot be read: {error.strerror}.'
    line = error.object.count(b'\n', 0, error.start) + 1
    return f'{path} is not written in UTF-8: see its line {line}.'


def _known():
    """Return {group: {name: option}}; the option of a deprecated name is None.

    Return None if a plugin or an adapter does not load, because the start reports this.
    """
    known = {'DEFAULT': dict.fromkeys(('config_file', 'config_dir', 'config_source'))}
    for point in metadata.entry_points(group='oslo.config.opts'):
        if point.name not in NAMESPACES:
            continue
        try:
            listed = point.load()()
        except Exception:  # A foreign package may raise any exception.
            LOG.debug('The options of %s cannot be listed', point.name, exc_info=True)
            return None
        for group, options in listed:
            group = str(getattr(group, 'name', group or 'DEFAULT'))
            for option in options:
                known.setdefault(group, {}).update({option.name: option, option.dest: option})
                for old in filter(lambda deprecated: deprecated.name, option.deprecated_opts):
                    known.setdefault(old.group or group, {}).update(
                        dict.fromkeys((old.name, old.name.replace('-', '_'))))
    return known


def _login_options(options):
    """Return the names of the options of a login that a group may have.

    :param options: {option: [texts]} of the group.
    """
    names = {'auth_type', 'auth_section', 'auth_plugin'}
    for kind in (*options.get('auth_type', ()), *options.get('auth_plugin', ())):
        try:
            loader = loading.get_plugin_loader(kind)
        except exceptions.NoMatchingPlugin:
            # The start refuses an unknown auth_type, so every name is accepted here.
            return names | set(options)
        for option in loader.get_options():
            for name in (option.name, option.dest, *(old.name for old in option.deprecated)):
                names |= {name, name.replace('-', '_')}
    return names
