# SPDX-License-Identifier: Apache-2.0
"""The views and actions of a person on the pages of Horizon."""
import types

import keystone_process
from selenium.webdriver.common.by import By
from support import browser

_MODAL = '#create_lease_modal'


class HorizonPage(browser.Page):
    """A page of Horizon.

    :param url: the URL of Horizon.
    """

    def __init__(self, driver, url):
        super().__init__(driver, types.SimpleNamespace(root=url))

    def log_in(self, user, path='/project/leases/'):
        """Log in, and go to a path."""
        self.driver.delete_all_cookies()
        self.go(f'/auth/login/?next={path}')
        self.fill('#id_username', user)
        self.fill('#id_password', keystone_process.PASSWORD)
        self.one('#loginBtn').click()
        self.until(lambda: self.driver.current_url == self.standalone.root + path,
                   f'{user} did not come to {path}')

    def link(self, words):
        """Return the link with exactly these words, also where a menu hides it."""
        return self.until(lambda: next(iter(self.links(words)), None), f'no link {words!r}')

    def links(self, words):
        return [each for each in self.driver.find_elements(By.TAG_NAME, 'a')
                if each.get_property('textContent').strip() == words]

    def rows(self, table):
        """Return the texts of the cells of a table, but for the first column with the boxes."""
        return self.script("""
            return [...document.querySelectorAll(`#${arguments[0]} tbody tr[data-object-id]`)].map(
              (row) => [...row.cells].slice(1).map((cell) => cell.innerText.trim()));""", table)

    def row(self, table, name):
        """Wait until a table has a row of something; return the texts of its cells."""
        return self.until(lambda: next(
            (each for each in self.rows(table) if each[0] == name), None), f'no {name} in {table}')

    def ask_for_lease(self, name, kind=None, affinity=None, **fields):
        """Fill the form of a new lease and send it.

        :param kind: what the form says for a type of resource; None: what it has chosen.
        """
        self.one('#leases__action_create').click()
        self.until(lambda: self.one(f'{_MODAL} [name=name]').is_displayed())
        for label, choice in (('resource_type', kind), ('affinity', affinity)):
            if choice is not None:
                self._choose(label, choice)
        for field, text in {'name': name, **fields}.items():
            self.fill(f'{_MODAL} [name={field}]', text)

    def send_lease(self):
        self.one(f'{_MODAL} .btn-primary').click()

    def _choose(self, name, words):
        """Choose from one of Horizon's own menus, behind which the real one is hidden."""
        menu = f'{_MODAL} .themable-select:has([name={name}])'
        self.one(f'{menu} button').click()
        self.until(lambda: next(each for each in self.all(f'{menu} a')
                                if each.text == words)).click()
        self.reads(words, f'{menu} .dropdown-title')

    def delete_lease(self, lease_id):
        """Press the button in the row of a lease, and say yes."""
        self.one(f'#leases__row_{lease_id}__action_delete').click()
        self.say_yes()

    def say_yes(self):
        """Press the red button of the question that Horizon asks."""
        self.until(lambda: next(each for each in self.all('.modal-footer .btn-danger')
                                if each.is_displayed())).click()
