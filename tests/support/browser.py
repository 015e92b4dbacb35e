# SPDX-License-Identifier: Apache-2.0
"""The standalone, Chromium, and what a person does with a page."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

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
from climate.client import service
from climate.cloud import simulated
from support import builders

CHROMIUM, DRIVER = '/usr/bin/chromium', '/usr/bin/chromedriver'
BIN = pathlib.Path(sys.executable).parent
#: The folder of pictures of pages, for people.
PICTURES = pathlib.Path(__file__).parents[2] / 'build/console'
#: The pictures of the user guide, and where they are written.
GUIDE = ('timeline', 'queue', 'new-lease', 'leases', 'lease', 'capacity', 'energy', 'operator',
         'maintenance', 'notifications')
GUIDE_PICTURES = pathlib.Path(os.environ.get('CLIMATE_PICTURES') or PICTURES)
_SECONDS = 30
_TABS = 100


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
            session.Session(auth=token_endpoint.Token(url, token)), endpoint_override=url)

    def as_user(self, token):
        """Return the client library for another token."""
        return Standalone(self.address, self.url, token).client

    def lease(self, name, hosts=1, **when):
        """Create a lease of some hosts; return it."""
        return self.client.leases.create(name, reservations=[
            {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}], **when)

    def boot(self, name, lease):
        """Boot a server with the first reservation of a lease, as its project would in Nova."""
        conf = configuration.register(cfg.ConfigOpts())
        conf([], project='climate', default_config_files=[], default_config_dirs=[])
        conf.set_override('state', f'{self.folder}/cloud.sqlite', group='simulated')
        cloud = simulated.SimulatedCloud(conf)
        cloud.boot(lease['project_id'], name, {'reservation': lease['reservations'][0]['id']})
        cloud.close()

    def end_all(self):
        """Delete all leases."""
        for lease in self.client.leases.list(all_projects=True):
            self.client.leases.delete(lease['id'])
            self.client.leases.wait(lease['id'], 'deleted')


@contextlib.contextmanager
def running(folder, **settings):
    """Run a standalone in a folder; yields the Standalone.

    :param settings: {GROUP__OPTION: text}, as oslo.config reads them from the environment.
    """
    env = {**os.environ, **{f'OS_{name}': text for name, text in settings.items()},
           'CLIMATE_STATE': str(folder),
           'OS_API__PORT': str(builders.a_free_port()),
           'OS_CONSOLE__PORT': str(builders.a_free_port()),
           'CLIMATE_STANDALONE_FILE': str(folder / 'standalone.json')}
    process = subprocess.Popen([BIN / 'climate-standalone'], env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = ''
        while not (found := re.search(r'http://\S+/login\?key=\S+', said)):
            line = process.stdout.readline()
            assert line, said
            said += line
        note = json.loads((folder / 'standalone.json').read_text())
        yield Standalone(found[0], note['url'], note['token'], folder)
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def chromium(*arguments):
    """Start Chromium without a window; yields its WebDriver."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for each in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                 *arguments):
        options.add_argument(each)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
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

    def until(self, condition, words='it never came'):
        """Wait until a function of no argument returns something true; returns that."""
        # An element that was found may be of the page before.
        return wait.WebDriverWait(self.driver, _SECONDS, 0.1, [
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
        """Type a text in place of what a field has."""
        field = self.one(selector)
        self.driver.execute_script("arguments[0].value = ''", field)
        field.send_keys(text)

    def press(self, words):
        """Click the button with these words."""
        self.until(lambda: self._is_ready() and self._button(words),
                   f'no button {words!r}').click()

    def click(self, selector):
        """Click what a CSS selector finds, when its page listens."""
        self.until(lambda: self._is_ready() and next(iter(self.all(selector)), None),
                   f'no {selector}').click()

    def _is_ready(self):
        """Return whether the script of the page listens, if it has one beside that of zones."""
        return self.script("""
            const scripts = document.querySelectorAll('script[type=module]');
            return document.readyState === 'complete'
              && (scripts.length < 2 || 'ready' in document.body.dataset)""")

    def _button(self, words):
        return next((each for each in self.all('button, .button') if words in each.text
                     and each.is_displayed()), None)

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
        folder = GUIDE_PICTURES if name in GUIDE else PICTURES
        folder.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(folder / f'{name}.png'))

    def complaints(self):
        """Return what the browser complained of: errors of scripts, breaches of the policy."""
        return [each['message'] for each in self.driver.get_log('browser')
                if each['level'] == 'SEVERE' and 'status of 4' not in each['message']]
