# SPDX-License-Identifier: Apache-2.0
"""The standalone, Chromium, and what a person does with a page."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

from keystoneauth1 import session
from keystoneauth1 import token_endpoint
from oslo_config import cfg
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common import action_chains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import wait

from climate import conf as configuration
from climate.client import http
from climate.client import service
from climate.cloud import simulated
from climate.cmd import console as console_program
from climate.console import app
from climate.console import login
from support import builders

CHROMIUM, DRIVER = '/usr/bin/chromium', '/usr/bin/chromedriver'
BIN = pathlib.Path(sys.executable).parent
#: The folder of pictures of pages, for people.
PICTURES = pathlib.Path(__file__).parents[2] / 'build/console'
#: The pictures of the user guide, and where they are written; without a folder, none are taken.
GUIDE = ('timeline', 'queue', 'new-lease', 'leases', 'lease', 'capacity', 'energy', 'operator',
         'maintenance', 'notifications')
GUIDE_PICTURES = os.environ.get('CLIMATE_PICTURES')
#: The script that holds answers.
HOLD = (pathlib.Path(__file__).parent / 'hold_answers.js').read_text()
_SECONDS = 30
_PAUSE_SECONDS = 0.1
_TABS = 100


class _ImpatientClock(http.Clock):
    """A clock for waiting that polls often; a story waits for a moment, not for minutes."""

    def sleep(self, seconds):
        super().sleep(min(seconds, _PAUSE_SECONDS))


class Standalone:
    """A running climate-standalone.

    :ivar address: the address of the console with its key.
    :ivar url: the URL of climate-api.
    :ivar folder: the folder of its files; None: it is not known.
    """

    def __init__(self, address, url, token, folder=None):
        self.address = address
        self.folder = folder
        self.root = address.partition('/login')[0]
        self.url = url
        self.token = token
        self.client = service.Client(
            session.Session(auth=token_endpoint.Token(url, token)), endpoint_override=url,
            clock=_ImpatientClock())

    def as_user(self, token):
        """Return the client library for another token."""
        return Standalone(self.address, self.url, token).client

    def lease(self, name, hosts=1, **when):
        """Create a lease of some hosts; return it."""
        return self.client.leases.create(name, reservations=[
            {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}], **when)

    def boot(self, name, lease):
        """Boot a server with the first reservation of a lease, as its project would in Nova."""
        with self.cloud() as cloud:
            cloud.boot(lease['project_id'], name, {'reservation': lease['reservations'][0]['id']})

    def servers(self):
        """Return the servers of all projects."""
        with self.cloud() as cloud:
            return cloud.servers()

    @contextlib.contextmanager
    def cloud(self):
        """Yield the simulated cloud."""
        conf = configuration.register(cfg.ConfigOpts())
        conf([], project='climate', default_config_files=[], default_config_dirs=[])
        conf.set_override('state', f'{self.folder}/cloud.sqlite', group='simulated')
        cloud = simulated.SimulatedCloud(conf)
        try:
            yield cloud
        finally:
            cloud.close()

    def end_all(self):
        """Delete all leases."""
        leases = [*self.client.leases.list(all_projects=True)]
        for lease in leases:
            self.client.leases.delete(lease['id'])
        for lease in leases:
            self.client.leases.wait(lease['id'], 'deleted')


class Program:
    """A climate-standalone that can be killed, and started again with the same files and ports.

    :param folder: the folder of its files.
    :param settings: {GROUP__OPTION: text}, as oslo.config reads them from the environment.
    """

    def __init__(self, folder, **settings):
        self._folder = folder
        self._env = {**os.environ, 'OS_MANAGER__POLL_SECONDS': '0.2',
                     **{f'OS_{name}': text for name, text in settings.items()},
                     'CLIMATE_STATE': str(folder),
                     'OS_API__PORT': str(builders.a_free_port()),
                     'OS_CONSOLE__PORT': str(builders.a_free_port()),
                     'CLIMATE_STANDALONE_FILE': str(folder / 'standalone.json')}
        self._process = None
        #: The Standalone of the last start.
        self.standalone = None

    def start(self):
        """Start it unless it runs; return when it answers."""
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen([BIN / 'climate-standalone'], env=self._env, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = ''
        while not (found := re.search(r'http://\S+/login\?key=\S+', said)):
            line = self._process.stdout.readline()
            assert line, said
            said += line
        note = json.loads((self._folder / 'standalone.json').read_text())
        self.standalone = Standalone(found[0], note['url'], note['token'], self._folder)

    def kill(self):
        """Kill it without a warning."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        self._process.terminate()
        self._process.wait(120)


@contextlib.contextmanager
def running(folder, **settings):
    """Run a standalone in a folder; yields the Standalone.

    :param settings: as for Program.
    """
    program = Program(folder, **settings)
    try:
        program.start()
        yield program.standalone
    finally:
        program.stop()


@contextlib.contextmanager
def console_of(standalone, user, project, *roles):
    """Run another console of a standalone for another user; yields its Standalone.

    It is in this process, so it lives on while the standalone is killed.
    """
    conf = configuration.register(cfg.ConfigOpts())
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    for option, value, group in (('port', builders.a_free_port(), 'console'),
                                 ('enabled', True, 'cache'),
                                 ('backend', 'dogpile.cache.memory', 'cache')):
        conf.set_override(option, value, group=group)
    token = f'{user}:{project}:{",".join(roles)}'
    key_login = login.KeyLogin(login.Identity(
        token, standalone.url, user, user, project, project, roles))
    server = console_program.listen(app.build(conf, method=key_login), conf)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield Standalone(f'http://{conf.console.host}:{server.port}/login?key={key_login.key}',
                         standalone.url, token, standalone.folder)
    finally:
        server.order(server.stop, 0)
        thread.join(30)


@contextlib.contextmanager
def chromium(*arguments):
    """Start Chromium without a window; yields its WebDriver."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # A page that is left must end, with its requests, and not wait for somebody who comes back.
    for each in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                 '--disable-features=BackForwardCache', *arguments):
        options.add_argument(each)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    # axe-core may need more than the usual 30 seconds for a page if other programs are busy.
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """The actions of a person, and the visible page."""

    def __init__(self, driver, standalone):
        self.driver = driver
        self.standalone = standalone

    def log_in(self):
        self.driver.get(self.standalone.address)

    def go(self, path):
        self.driver.get(self.standalone.root + path)

    def leave(self):
        """End the page and its requests; return what the browser complained of until then."""
        self.driver.get('about:blank')
        return self.complaints()

    def until(self, condition, words='it never came'):
        """Wait until a function of no argument returns something true; returns that."""
        # An element that was found may be of the page before.
        return wait.WebDriverWait(self.driver, _SECONDS, _PAUSE_SECONDS, [
            exceptions.WebDriverException]).until(lambda _driver: condition(), words)

    def one(self, selector):
        """Return the element that a CSS selector finds, when it is there."""
        return self.until(lambda: next(iter(self.all(selector)), None), f'no {selector}')

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector='main'):
        return self.one(selector).text

    def reads(self, words, selector='main'):
        """Wait until an element has some words."""
        try:
            self.until(lambda: any(words in each.text for each in self.all(selector)))
        except exceptions.TimeoutException as error:
            found = [each.text for each in self.all(selector)]
            raise AssertionError(f'{words!r} is not in {selector}: {found}') from error

    def fill(self, selector, text):
        """Type a text in place of what a field has, when its page listens."""
        def typed():
            field = self._ready(selector)
            self.driver.execute_script("arguments[0].value = ''", field)
            field.send_keys(text)
            return True

        self.until(typed, f'no {selector}')

    def press(self, words):
        """Click the button with these words."""
        self._act(lambda: self._button(words), f'no button {words!r}')

    def click(self, selector):
        """Click what a CSS selector finds, when its page listens."""
        self._act(lambda: self._ready(selector), f'no {selector}')

    def _act(self, find, words):
        """Click what a function finds; again if the page was loaded, or it moved, meanwhile."""
        def clicked():
            find().click()
            return True

        self.until(clicked, words)

    def _ready(self, selector):
        """Return what a CSS selector finds.

        :raises NoSuchElementException: it is not there, or its page does not listen yet.
        """
        if not self._is_ready():
            raise exceptions.NoSuchElementException(selector)
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def _is_ready(self):
        """Return whether the script of the page listens, if it has one beside that of zones."""
        return self.script("""
            const scripts = document.querySelectorAll('script[type=module]');
            return document.readyState === 'complete'
              && (scripts.length < 2 || 'ready' in document.body.dataset)""")

    def _button(self, words):
        """Return the button with some words.

        :raises NoSuchElementException: it is not there, or its page does not listen yet.
        """
        buttons = self.all('button, .button') if self._is_ready() else []
        for button in buttons:
            if words in button.text and button.is_displayed():
                return button
        raise exceptions.NoSuchElementException(words)

    def keys(self, *pressed):
        """Press keys where the focus is."""
        action_chains.ActionChains(self.driver).send_keys(*pressed).perform()

    def tab_to(self, selector):
        """Press the Tab key until what a CSS selector finds has the focus."""
        for _ in range(_TABS):
            if self.script('return document.activeElement.matches(arguments[0])', selector):
                return
            self.keys(Keys.TAB)
        raise AssertionError(f'{selector} cannot be reached with the Tab key')

    def script(self, text, *given):
        return self.driver.execute_script(text, *given)

    def hold(self, pattern, method=None):
        """Hold the answers to requests whose addresses match a pattern, until they are released.

        The browser does not abort these requests, so the page itself must recognize late answers.

        :param method: hold only the answers to requests with this method; None: to all.
        """
        self.script(HOLD, pattern, method)

    def until_held(self):
        """Wait until an answer is held; later requests get their answers at once."""
        self.until(lambda: self.script('return window.heldAnswers.length'))
        self.script('window.endHold()')

    def release(self, lost=False):
        """Give the page the held answers, or lose them; return when it has handled them."""
        self.driver.execute_async_script("""
            const [lost, done] = arguments;
            for (const held of window.heldAnswers) (lost ? held.lose : held.resolve)();
            // Its body is there, so the page handles it before the next timers.
            setTimeout(() => setTimeout(() => setTimeout(done)));""", lost)

    def window(self, width=None, height=None):
        """Give the page a size in pixels, or the size of the window again."""
        if width is None:
            self.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
            return
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
        self.until(lambda: self.script('return window.innerWidth') == width)

    def picture(self, name):
        """Write a picture of the page into PICTURES, or GUIDE_PICTURES if it is in the guide."""
        if not GUIDE_PICTURES:
            return
        folder = pathlib.Path(GUIDE_PICTURES) if name in GUIDE else PICTURES
        folder.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(folder / f'{name}.png'))

    def complaints(self):
        """Return what the browser complained of: errors of scripts, breaches of the policy."""
        return [each['message'] for each in self.driver.get_log('browser')
                if each['level'] == 'SEVERE' and 'status of 4' not in each['message']]
