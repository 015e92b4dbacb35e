# SPDX-License-Identifier: Apache-2.0
"""A manager that is killed at calls of the real cloud, and the next one, which takes over."""
import json
import re

import scene as scenes

from tools.cloud import stand_in

MOMENTS = ('before', 'after')
SECONDS = 180
# The ids in an address, and the names that Climate makes of ids.
_ID = re.compile(r'(?:[\w.]+-)?(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})')

_PROGRAM = """
'''climate-manager, which notes the changes of its events, and kills itself at those of a file.'''
import contextvars, json, os, pathlib, re, signal, sys, time
from climate import backend
backend.choose(sys.argv[1:], 'climate-manager')
from climate.cmd import manager_service
from climate.manager.events import actions
from keystoneauth1 import session
orders, notes, plain = pathlib.Path({orders!r}), pathlib.Path({notes!r}), session.Session.request
carried_out = contextvars.ContextVar('carried_out', default=False)
perform = actions.Actions.perform

def marked(self, claim):
    carried_out.set(True)
    try:
        return perform(self, claim)
    finally:
        carried_out.set(False)

def die(left):
    # The request that made the event due is answered first.
    time.sleep(1)
    other = orders.with_suffix('.new')
    other.write_text(json.dumps(left))
    other.replace(orders)
    os.kill(os.getpid(), signal.SIGKILL)

def request(self, url, method, **more):
    if method == 'GET' or not carried_out.get():
        return plain(self, url, method, **more)
    with notes.open('a') as file:
        file.write(json.dumps([method, url]) + '\\n')
    (wanted, pattern, moment), *left = json.loads(orders.read_text()) or [(None, '', '')]
    mine = method == wanted and re.search(pattern, url)
    if mine and moment == 'before':
        die(left)
    answer = plain(self, url, method, **more)
    if mine:
        die(left)
    return answer

actions.Actions.perform, session.Session.request = marked, request
sys.exit(manager_service.run(sys.argv[1:]))
"""


class Mortal:
    """The managers of the Climate of a cloud, one after the other.

    :param folder: an empty folder.
    """

    def __init__(self, cloud, folder):
        self._cloud = cloud
        self._orders, self._notes = folder / 'orders', folder / 'notes'
        self._path = folder / 'climate-manager'
        self._orders.write_text('[]')

    def start(self):
        """Start it; or the next one, if it was killed."""
        stand_in.start(self._cloud, self._path, _PROGRAM.format(
            orders=str(self._orders), notes=str(self._notes)))

    def changes(self, of, work):
        """Return the calls other than GET that events make because of `work`, each once.

        :param of: a regular expression that their addresses have.
        :returns: [(method, regular expression of the address)], in their order.
        """
        self._notes.write_text('')
        work()
        made = [json.loads(line) for line in self._notes.read_text().splitlines()]
        return list(dict.fromkeys(
            (method, f'{_ID.sub("[^/]+", url)}$') for method, url in made if re.search(of, url)))

    def dies(self, calls, moment, work):
        """Have it killed at each of these calls in turn; after each the next manager starts.

        :param calls: pairs as `changes` returns them; the first comes from `work`, and each other
            one from what the manager does that took over.
        :param moment: 'before' or 'after' the call.
        """
        self._orders.write_text(json.dumps([(*each, moment) for each in calls]))
        work()
        for left in reversed(range(len(calls))):
            scenes.until(lambda left=left: len(json.loads(self._orders.read_text())) == left,
                         f'{calls[-1 - left]}', SECONDS)
            self.start()
