# SPDX-License-Identifier: Apache-2.0
"""axe-core checks every page, in light and in dark, and finds nothing serious."""
import pathlib

import axe_core_python
import pytest

AXE = (pathlib.Path(axe_core_python.__file__).parent / 'axe.min.js').read_text()
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
_RUN = """
    const done = arguments[arguments.length - 1];
    axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})
      .then((found) => done(found.violations.map((each) => [each.impact, each.id,
        each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));"""


def serious(page):
    page.script(AXE)
    return [each for each in page.driver.execute_async_script(_RUN)
            if each[0] in ('serious', 'critical', 'moderate')]


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_axe_finds_nothing(page, scheme):
    lease = page.standalone.lease('checked', 8, duration='1h')
    client = page.standalone.client
    client.leases.create('waits', reservations=[HOST], duration='1h',
                         acquire={'type': 'wait', 'not_after': '+2d'})
    client.availability.hold([HOST], duration='1h', earliest='+4h')
    page.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
    found = {}
    for name, path, there in (
            ('timeline', '/', '#waiting-rows a'), ('leases', '/leases', '#offers'),
            ('past', '/leases?which=past&all_projects=1', 'h1'),
            ('lease', f'/leases/{lease["id"]}', 'h1'), ('new', '/leases/new', '#counts li'),
            ('capacity', '/capacity', '#forecast canvas'), ('operator', '/operator', '#audit'),
            ('projects', '/projects', 'main li'), ('problem', '/nowhere', 'h1')):
        page.go(path)
        page.one(there)
        page.picture(f'{scheme}-{name}')
        found[path] = serious(page)
    page.press('Log out')
    page.go('/login')
    found['/login'] = serious(page)
    page.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': []})
    for offer in client.offers.list():
        client.offers.delete(offer['id'])
    assert not any(found.values()), found
