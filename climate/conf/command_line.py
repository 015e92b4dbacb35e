# SPDX-License-Identifier: Apache-2.0
"""Reorder a command line so that argparse accepts options in any position."""
from oslo_config import cfg

# oslo.config registers these options only when it parses the command line.
_OF_OSLO_CONFIG = ('config-file', 'config-dir')


def options_first(conf, argv):
    """Return a command line with the registered options of `conf` before everything else.

    argparse passes everything after a subcommand to the parser of the subcommand, which knows only
    its own options. argparse also refuses an option between two words.
    """
    with_value, flags = _registered(conf)
    first, rest, words = [], [], iter(argv)
    for word in words:
        if word == '--':
            rest += [word, *words]
        elif word in with_value and (value := next(words, None)) is not None:
            first += [word, value]
        elif word in flags or ('=' in word and word.partition('=')[0] in with_value):
            first.append(word)
        else:
            rest.append(word)
    return first + rest


def _registered(conf):
    """Return ({option with a value}, {option without a value}), with their dashes."""
    with_value, flags = {f'--{name}' for name in _OF_OSLO_CONFIG}, set()
    for option, group in conf._all_cli_opts():
        if option.positional or isinstance(option, cfg.SubCommandOpt):
            continue
        prefix = f'{group.name}-' if group else ''
        names = {f'--{prefix}{name}' for name in (option.name, option.dest)}
        if option.short:
            names.add(f'-{option.short}')
        if isinstance(option, cfg.BoolOpt):
            flags |= names | {f'--{prefix}no{option.name}'}
        else:
            with_value |= names
    return with_value, flags
