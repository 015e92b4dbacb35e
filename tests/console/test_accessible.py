# SPDX-License-Identifier: Apache-2.0
"""Every page and dialog, in light and in dark, from a phone to a wide screen.

axe-core finds nothing serious, each text has a contrast of at least 4.5:1, and no page is wider
than its window.
"""
import pathlib

import axe_core_python
import pytest
from support import browser

AXE = (pathlib.Path(axe_core_python.__file__).parent / 'axe.min.js').read_text()
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
#: A phone, 1,400 pixels at a zoom of 200 %, a laptop, and a wide screen: (width, height).
WINDOWS = ((390, 844), (700, 450), (1400, 900), (2560, 1300))
# axe takes long, and the layout at 200 % is that of one of these.
_AXE_WINDOWS = (390, 1400, 2560)
#: What axe checks: everything, or the rules about colours.
_EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
_COLOURS = {'type': 'rule', 'values': ['color-contrast', 'link-in-text-block']}
# The rows of a table of numbers are alike, and axe needs seconds for each hundred.
_MOST_ROWS = 20
_SHORTEN = """
    for (const body of document.querySelectorAll('details tbody')) {
      [...body.children].slice(arguments[0]).forEach((row) => row.remove());
    }"""
_RUN = """
    const [rules, done] = arguments;
    axe.run(document, {runOnly: rules, resultTypes: ['violations'], selectors: false})
      .then((found) => done(found.violations.map((each) => [each.impact, each.id,
        each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));"""
# The texts with too little contrast, from the computed colours: [ratio, text, class].
_FAINT = """
    const channels = (text) => {
      const [red, green, blue, alpha = 1] = text.match(/[\\d.]+/g).map(Number);
      const scale = text.startsWith('color(') ? 255 : 1;
      return [red * scale, green * scale, blue * scale, alpha];
    };
    const over = ([r, g, b, a], [R, G, B]) => [
      r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const light = (colour) => colour.slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4))
      .reduce((sum, value, place) => sum + value * [.2126, .7152, .0722][place], 0);
    const ground = (node) => {
      const layers = [];
      for (let each = node; each; each = each.parentElement) {
        layers.push(channels(getComputedStyle(each).backgroundColor));
        if (layers.at(-1)[3] === 1) break;
      }
      return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
    };
    const dialog = document.querySelector('dialog[open]');
    const found = [];
    const texts = document.createTreeWalker(dialog ?? document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || node.closest('script, noscript, option, [hidden]')
          || !node.checkVisibility() || node.closest('.unseen, .skip')) continue;
      const below = ground(node);
      const colour = over(channels(getComputedStyle(node).color), below);
      const [one, other] = [light(colour), light(below)];
      const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
      const text = texts.currentNode.data.trim();
      if (ratio < 4.5) found.push([ratio.toFixed(2), text, node.className]);
    }
    return found;"""


def serious(page, rules):
    """Return what axe finds with some rules, as [impact, rule, elements]."""
    if not page.script('return Boolean(window.axe)'):
        page.script(AXE)
    return [each for each in page.driver.execute_async_script(_RUN, rules)
            if each[0] in ('serious', 'critical', 'moderate')]


def wear(page, scheme):
    """Show pages in light or in dark; colours change at once. None: as the browser has it."""
    features = {} if scheme is None else {
        'prefers-color-scheme': scheme, 'prefers-reduced-motion': 'reduce'}
    page.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
        {'name': name, 'value': value} for name, value in features.items()]})


def faults(page, name, windows=WINDOWS):
    """Return {(scheme, width): what is wrong there} of the page as it is.

    Take pictures with a name. The scheme changes nothing but colours, so axe checks only these in
    dark.
    """
    found = {}
    page.script(_SHORTEN, _MOST_ROWS)
    for scheme, rules in (('light', _EVERYTHING), ('dark', _COLOURS)):
        wear(page, scheme)
        # A colour that is just changing is not the one that people read.
        page.until(lambda: not page.script('return document.getAnimations().length'))
        for width, height in windows:
            page.window(width, height)
            page.picture(f'{scheme}-{name}-{width}')
            wide = page.script('return document.documentElement.scrollWidth')
            wrong = [*page.script(_FAINT), *([f'{wide} pixels wide'] if wide > width else []),
                     *(serious(page, rules) if width in _AXE_WINDOWS else [])]
            if wrong:
                found[scheme, width] = wrong
    wear(page, None)
    page.window()
    return found


@pytest.fixture(autouse=True)
def plain(chromium):
    """The browser has its own scheme and size after each story, even if the story fails."""
    yield
    seen = browser.Page(chromium, None)
    wear(seen, None)
    seen.window()


@pytest.fixture
def trouble(page):
    """A running lease with a broken host, beside leases that wait, failed and are over."""
    client = page.standalone.client
    lease = page.standalone.lease('checked', 4, duration='1h')
    client.leases.wait(lease['id'])
    client.leases.create('waits', reservations=[{**HOST, 'min': 6, 'max': 6}], duration='1h',
                         acquire={'type': 'wait', 'not_after': '+2d'})
    client.availability.hold([HOST], duration='1h', earliest='+4h')
    client.pool('host').update('1', out_of_order='fan 2 has failed')
    subscription = client.subscriptions.create('webhook', address='https://hook.invalid/climate')
    client.subscriptions.test(subscription['id'])
    yield lease, subscription
    client.pool('host').update('1', in_order=True)
    client.subscriptions.delete(subscription['id'])
    for offer in client.offers.list():
        client.offers.delete(offer['id'])


def test_every_page_is_accessible(page, trouble):
    lease, subscription = trouble
    found = {}
    for name, path, there in (
            ('timeline', '/', '#waiting-rows a'), ('leases', '/leases', '#offers'),
            ('past', '/leases?which=past&all_projects=1', 'h1'),
            ('lease', f'/leases/{lease["id"]}', '.advice'), ('new', '/leases/new', '#counts li'),
            ('capacity', '/capacity', '#forecast canvas'), ('operator', '/operator', '#audit'),
            ('notifications', '/notifications', '#subscriptions'),
            ('log', f'/notifications/{subscription["id"]}', '#log'),
            ('projects', '/projects', 'main li'), ('problem', '/nowhere', 'h1')):
        page.go(path)
        page.one(there)
        found[path] = faults(page, name)
    page.press('Log out')
    page.go('/login')
    found['/login'] = faults(page, 'login')
    assert not any(found.values()), found


# Dialogs: (name, path, selector of the button that opens it). "{lease}" is the id of the lease in
# trouble.
DIALOGS = (
    *((name, '/leases/{lease}', f'.actions [data-action={name}]')
      for name in ('extend', 'resize', 'rename', 'end', 'remove')),
    ('swap', '/leases/{lease}', '.advice [data-action=swap]'),
    ('property', '/operator', '[data-action=property]'),
    ('withdraw', '/operator', 'tr[data-name=compute-8] [data-action=withdraw]'),
    ('maintenance', '/operator', '#maintenances button'),
    ('calendar', '/notifications', '#calendar button'),
    ('secret', '/notifications', '[data-action=renew]'))


@pytest.fixture
def maintenance(page):
    """A maintenance that can be deleted, and no calendar."""
    client = page.standalone.client
    found = client.maintenances.create('new firmware', hosts=['compute-7'], start='+1d',
                                       end='+2d')
    yield found
    client.maintenances.delete(found['id'])
    for subscription in client.subscriptions.list():
        if subscription['transport'] == 'calendar':
            client.subscriptions.delete(subscription['id'])


def test_every_dialog_is_accessible(page, trouble, maintenance):
    lease, _subscription = trouble
    found = {}
    for name, path, button in DIALOGS:
        page.go(path.format(lease=lease['id']))
        page.click(button)
        page.one('dialog[open]')
        found[name] = faults(page, f'dialog-{name}')
    assert not any(found.values()), found


def test_the_dark_scheme_changes_only_colours(page):
    changed = page.script("""
        return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
          .filter((rule) => rule.media?.mediaText.includes('prefers-color-scheme'))
          .flatMap((rule) => [...rule.cssRules]).flatMap(({style}) => [...style].map((name) => [
            name, CSS.supports('color', style.getPropertyValue(name))]));""")
    assert len(changed) > 20
    assert [name for name, is_colour in changed if not (name.startswith('--') and is_colour)] == []
