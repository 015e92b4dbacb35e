# SPDX-License-Identifier: Apache-2.0
"""The help about all commands in groups, and about the commands of one group."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import textwrap
import typing

from climate.client.commands import argument_errors

_WIDTH = 79
# Stands for the space in the words of a verb while lines are wrapped.
_JOINT = '\N{NO-BREAK SPACE}'
_INDENT = 18
#: (heading, {word: what its commands are about}); '' if the word is a command itself.
GROUPS: Sequence[tuple[str, Mapping[str, str]]] = (
    ('Leases', {
        'lease': 'Resources of a project from a start to an end',
        'series': 'Leases that repeat',
        'availability': '',
        'offer': 'Free times that are held for the project',
        'server': 'Servers that exist already and are leased',
        'notification': 'Mail, webhooks and calendars about leases'}),
    ('Resources', {
        'host': 'Hosts that can be leased',
        'property': 'Properties of hosts, for --require',
        'allocation': 'Which lease has which host',
        'calendar': '',
        'resource': 'Resources of any pool',
        'address': 'Floating IP addresses',
        'segment': 'Network segments',
        'backend': 'Storage back ends',
        'maintenance': 'Times at which resources are repaired'}),
    ('Use and prices', {
        'usage': '',
        'utilisation': '',
        'energy': '',
        'limit': 'How much a project may lease, and what is left',
        'statement': 'What the leases of a project cost in a month',
        'price-book': 'The prices of leases',
        'limit-book': 'The limits of projects and users'}),
    ('Operation', {
        'plan': 'Forecasts, and changes that are only tried',
        'service': 'The managers that carry out leases',
        'audit': 'Differences between leases and the cloud'}),
    ('Help', {
        'help': '',
        'completion': ''}))
_EXAMPLES = (
    ('availability --hosts 2 --duration 8h', 'when are two free?'),
    ('lease create demo --hosts 2 --duration 8h', 'reserve them now'),
    ('lease show demo', 'what did I get?'),
    ('lease extend demo --by 2h', 'keep them longer'),
    ('lease list --resource compute-7 --all-projects', 'who has it?'))

#: {name: entry point of the command}.
Commands = Mapping[str, typing.Any]


def of_all(program: str, commands: Commands) -> str:
    """Format the help about all commands: a line for each group of commands."""
    lines = [f'usage: {program} [options] COMMAND [arguments]', '',
             'Reserve resources of a cloud for a period of time.']
    words = {name.partition(' ')[0] for name in commands}
    listed = {word for _heading, nouns in GROUPS for word in nouns}
    others = dict.fromkeys(sorted(words - listed), '')
    for heading, nouns in (*GROUPS, ('Others', others)):
        present = [(word, what) for word, what in nouns.items() if word in words]
        if present:
            lines += ['', f'{heading}:']
        for word, what in present:
            # A line never ends between the words of a verb.
            verbs = [name.partition(' ')[2].replace(' ', _JOINT)
                     for name in of_word(commands, word)]
            text = ': '.join(filter(None, [what, ', '.join(filter(None, verbs))]))
            lines += _entry(word, text or sentence(commands[word]))
    width = max(len(words) for words, _ in _EXAMPLES) + len(program) + 1
    lines += ['', 'Examples:', *(f'  {f"{program} {words}":{width}}  # {text}'
                                 for words, text in _EXAMPLES)]
    ways = (f'"{program} lease" lists the commands about leases, "{program} lease create --help" '
            f'shows the arguments of one, and "{program} help options" the options for the cloud '
            'and the login.')
    return '\n'.join([*lines, '', *textwrap.wrap(ways, _WIDTH), ''])


def of_group(program: str, word: str, commands: Commands) -> str:
    """Format the help about the commands that begin with a word: a sentence for each."""
    names = of_word(commands, word)
    lines = [f'usage: {program} {word} COMMAND [arguments]', '']
    if about(word):
        lines += [f'{about(word)}.', '']
    width = max(map(len, names)) - len(word) - 1
    for name in names:
        lines += _entry(name.removeprefix(f'{word} '), sentence(commands[name]), width + 4)
    return '\n'.join([*lines, '', f'"{program} {names[0]} --help" shows the arguments of one.', ''])


def about(word: str) -> str:
    """Return what the commands that begin with a word are about; '' if nothing is written."""
    return next((nouns[word] for _, nouns in GROUPS if word in nouns), '')


def of_word(commands: Iterable[str], word: str) -> list[str]:
    """Return the commands that are a word, or begin with it, by the alphabet."""
    return sorted(name for name in commands if name.partition(' ')[0] == word)


def sentence(command: typing.Any) -> str:
    """Return the first line of the description of a command."""
    # Python with -OO or PYTHONOPTIMIZE=2 removes the docstrings.
    return (command.load().__doc__ or '').strip().partition('\n')[0]


def near(words: Sequence[str], commands: Iterable[str]) -> list[str]:
    """Return the commands that mistyped words most likely mean, the nearest first."""
    names = sorted(commands)
    nouns = sorted({name.partition(' ')[0] for name in names})
    first, second = (*words, '')[:2]
    if second in nouns and f'{second} {first}' in names:
        return [f'{second} {first}']
    noun = first if first in nouns else argument_errors.nearest(first, nouns)
    if noun is None:
        return [name for name in names if name.partition(' ')[2] == first]
    verbs = [name.partition(' ')[2] for name in of_word(names, noun)]
    verb = second if second in verbs else argument_errors.nearest(second, verbs)
    return [f'{noun} {verb}'.strip()] if verb is not None else [noun]


def _entry(word: str, text: str, indent: int = _INDENT) -> list[str]:
    lines = textwrap.wrap(text, _WIDTH, initial_indent=f'  {word}'.ljust(indent),
                          subsequent_indent=' ' * indent, break_on_hyphens=False)
    return [line.replace(_JOINT, ' ') for line in lines] or [f'  {word}']
