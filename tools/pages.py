# SPDX-License-Identifier: Apache-2.0
"""Run the commands of documentation pages as a reader would, one block after another.

A block of ``bash`` is run by one shell after another that keep the directory and the exported
variables. A block of ``sql`` is run by a command that the caller names. A block with a caption is
the content of the file that the caption names.
"""
import dataclasses
import pathlib
import re
import shlex
import subprocess
import textwrap

_TITLE = re.compile(r'^(?P<title>\S.*)\n(?P<line>[=~-])(?P=line)+$', re.MULTILINE)
_BLOCK = re.compile(r'^(?P<indent> *)\.\. code-block:: (?P<language>\w+)\n'
                    r'(?P<text>(?:(?P=indent) +\S.*\n|\n)+)', re.MULTILINE)
_OPTION = re.compile(r'^:(\w+): (.*)\n', re.MULTILINE)


class PageError(Exception):
    """A page does not do what it says."""


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of commands, or of the content of a file, on a page.

    :ivar section: the title above it.
    :ivar caption: the name of the file, or None.
    """

    page: str
    section: str
    language: str
    caption: str | None
    text: str


def blocks(path, *sections):
    """The Blocks of a page in order; with sections, those under these titles only."""
    text = path.read_text()
    titles = [(found.start(), found['title']) for found in _TITLE.finditer(text)]
    made = []
    for found in _BLOCK.finditer(text):
        above = [title for start, title in titles if start < found.start()]
        options, body = _parted(textwrap.dedent(found['text']))
        made.append(Block(path.name, above[-1] if above else '', found['language'],
                          options.get('caption'), body))
    missing = set(sections) - {block.section for block in made}
    if missing:
        raise PageError(f'{path.name} has no block under the title {", ".join(sorted(missing))}.')
    return [block for block in made if not sections or block.section in sections]


def _parted(text):
    """({option: value}, text) of what stands below the line of a directive."""
    head, _, body = text.lstrip('\n').partition('\n\n')
    if not head.startswith(':'):
        return {}, text.strip('\n') + '\n'
    return dict(_OPTION.findall(head + '\n')), body.strip('\n') + '\n'


class Reader:
    """Does what blocks say, with few changes.

    :ivar done: the texts that were run, as they were run.
    """

    def __init__(self, folder, environment, sql):
        """Prepare a shell.

        :param folder: an existing folder in which the commands run.
        :param environment: its first variables.
        :param sql: the words of the command that reads SQL from its input.
        """
        self._folder = folder
        self._environment = environment
        self._sql = sql
        self._state = folder / '.shell'
        self._state.write_text('')
        self._changes = {}
        self._omitted = {}
        self._used = set()
        self.done = []

    def change(self, text, other):
        """Put another text in place of one of the page."""
        self._changes[text] = other

    def omit(self, line, reason):
        """Leave a line of a page out."""
        self._omitted[line] = reason

    def unused(self):
        """The texts of changes and omissions that no block had; a page that changed leaves some."""
        return sorted({*self._changes, *self._omitted} - self._used)

    def follow(self, block):
        """Do what a Block says; return the output of its commands.

        :raises PageError: a command failed; the message has the block and what it printed.
        """
        text = self._adapted(block)
        self.done.append(text)
        if block.caption:
            file = pathlib.Path(self._changed(block.caption))
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open('a') as opened:
                opened.write(text)
            return ''
        if block.language == 'sql':
            return self._run(block, self._sql, text)
        if block.language != 'bash':
            raise PageError(f'{block.page}: nothing is known of the language {block.language}.')
        state = shlex.quote(str(self._state))
        return self._run(block, ['bash', '-euo', 'pipefail', '-c', (
            f'. {state}\n{text}\n{{ echo "cd $PWD"; export -p; }} > {state}')], None)

    def _adapted(self, block):
        kept = [line for line in block.text.splitlines() if line.strip() not in self._omitted]
        self._used |= {line.strip() for line in block.text.splitlines()} & set(self._omitted)
        return self._changed('\n'.join(kept)) + '\n'

    def _changed(self, text):
        """The text with all changes; the longest wins, and what was put in is not changed again."""
        def other(found):
            self._used.add(found[0])
            return self._changes[found[0]]
        longest = sorted(self._changes, key=len, reverse=True)
        return re.sub('|'.join(map(re.escape, longest)), other, text) if longest else text

    def _run(self, block, command, given, seconds=600):
        done = subprocess.run(
            [str(word) for word in command], input=given if given else '', text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self._folder,
            env=self._environment, timeout=seconds)
        if done.returncode:
            raise PageError(f'{block.page}, {block.section}: exit code {done.returncode} of\n'
                            f'{self.done[-1]}\nIt printed:\n{done.stdout}')
        return done.stdout
