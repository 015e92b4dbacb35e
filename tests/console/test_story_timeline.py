# SPDX-License-Identifier: Apache-2.0
"""Stories of the picture of the timeline, in a real browser."""
import itertools

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions import wheel_input
from selenium.webdriver.common.keys import Keys

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
EVE = 'eve:physics:member'


def size(page, width, height=900, **options):
    """Give the page a size; a phone has a mobile browser."""
    page.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False, **options})


@pytest.fixture
def wide(page):
    """A Page of 1,400 pixels."""
    size(page, 1400)
    yield page
    page.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
    page.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': []})


def show(page, path='/'):
    page.go(path)
    page.until(lambda: page.script(
        'return window.climateTimeline?.view.rows.length || document.querySelector("#nothing")'
        '.textContent'))


def in_view(page, code, *given):
    """Run a script that has the view of the timeline as `view`."""
    return page.script(f'const {{view}} = window.climateTimeline; {code}', *given)


def offset(page, row, moment):
    """Return the offset of a moment on a row from the middle of the canvas."""
    return [round(part) for part in in_view(page, """
        return [view.painter.labels + view.scale.x(arguments[1]) - view.canvas.clientWidth / 2,
                34 + arguments[0] * 24 + 12 - view.scroll - view.canvas.clientHeight / 2];""",
            row, moment)]


def hover(page, row, moment):
    ActionChains(page.driver).move_to_element_with_offset(
        page.one('#timeline'), *offset(page, row, moment)).perform()


def lane_of(page, name):
    """Return (row, start, end) of the first bar of a lease, once it is there."""
    return page.until(lambda: in_view(page, """
        for (const [row, {lane}] of view.rows.entries()) {
          const index = lane?.leases.findIndex((lease) => lease?.name === arguments[0]) ?? -1;
          if (index >= 0) return [row, lane.starts[index], lane.ends[index]];
        }
        return null;""", name))


def luminance(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_every_text_can_be_read_and_every_state_differs(wide, scheme):
    wide.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
    show(wide)
    plain, fills, texts, edges = in_view(wide, """
        const {plain, fills, texts, edges} = view.painter.palette;
        return [plain, fills, texts, edges];""")
    assert len(fills) == 17
    assert {pair: contrast(*pair) for pair in zip(fills, texts, strict=True)
            if contrast(*pair) < 4.5} == {}
    pairs = [*itertools.product(['text', 'bad', 'soft'], ['card', 'ground']),
             ('text', 'hover'), ('text', 'tint'), ('bad', 'tint')]
    assert {pair: contrast(*map(plain.get, pair)) for pair in pairs
            if contrast(*map(plain.get, pair)) < 4.5} == {}
    assert [edge for edge in edges if contrast(edge, plain['card']) < 3] == []
    looks = in_view(wide, """
        const {fillOf, patternOf, stateOf} = await import('/static/js/timeline/styles.js');
        return [['own', 'active'], ['own', 'inactive'], ['others', null], ['offer', null],
            ['own', 'terminated'], ['own', 'error'], ['maintenance', null],
            ['out_of_order', null], ['asleep', null]].map(([kind, status]) => [
                fillOf(stateOf(kind, status)), patternOf(kind, status)]);""")
    assert len({fill for fill, _ in looks}) == len(looks)
    # All but active leases and those of others have lines.
    assert [pattern == 0 for _, pattern in looks].count(True) == 2
    own = {tuple(look) for look in looks[:6]}
    assert len({pattern for _, pattern in own}) == 5


def test_an_absence_is_behind_the_leases_and_has_no_invented_end(wide):
    client = wide.standalone.client
    lease = wide.standalone.lease('on a broken host', 8, duration='4h')
    client.leases.wait(lease['id'])
    host = client.hosts.find('compute-8')['id']
    client.hosts.update(host, reservable=False)
    try:
        show(wide)
        wide.click('#span-day')
        row, start, end = lane_of(wide, 'on a broken host')
        broken = wide.until(lambda: in_view(wide, """
            return view.rows.findIndex(({lane}) => lane?.resource.name === 'compute-8'
                && lane.absences.some(({open}) => open)) + 1;""")) - 1
        assert in_view(wide, 'return view.rows[arguments[0]].lane.trackCount', broken) == 1
        hover(wide, broken, (start + end) / 2)
        wide.reads('on a broken host', '#said')
        hover(wide, broken, end + 3600)
        wide.reads('out of service', '#hint')
        wide.reads('until further notice', '#said')
        wide.picture('timeline-absence')
        assert row == 0
    finally:
        client.hosts.update(host, reservable=True)


def test_bars_say_who_has_them_and_may_have_the_colour_of_their_owner(wide):
    running = wide.standalone.lease('training', 2, duration='30h')
    wide.standalone.client.leases.wait(running['id'])
    wide.standalone.lease('evaluation', 2, start='+40h', duration='50h')
    wide.standalone.as_user(EVE).leases.create(
        'lattice', reservations=[HOST], start='+1h', duration='60h')
    wide.standalone.client.availability.hold([HOST], duration='20h', earliest='+4h')
    show(wide)
    wide.click('#span-week')
    row, start, _ = lane_of(wide, 'lattice')
    hover(wide, row, start + 36 * 3600)
    wide.reads('eve in physics', '#hint')
    wide.reads('eve in physics', '#said')
    wide.until(lambda: 'training' in in_view(wide, """
        return view.rows.flatMap(({lane}) => lane.leases.map((lease) => lease?.name))"""))
    wide.picture('timeline')
    for offer in wide.standalone.client.offers.list():
        wide.standalone.client.offers.delete(offer['id'])
    wide.script("""const select = document.getElementById('colour');
        select.value = 'project_id';
        select.dispatchEvent(new Event('change'))""")
    assert {'demo', 'physics'} <= set(wide.text('#legend').split('\n'))
    fills = in_view(wide, """return view.rows.flatMap(({lane}) => [...lane.fills]
        .filter((fill, index) => lane.leases[index]))""")
    assert len(set(fills)) == 2


def test_the_controls_fit_mark_the_span_and_come_back(wide):
    show(wide, '/?pool=host&group=memory_mb')
    tops = wide.script("""return [...document.querySelectorAll('.timeline-tools > :not(datalist)')]
        .map((each) => Math.round(each.getBoundingClientRect().bottom))""")
    assert max(tops) - min(tops) <= 8, tops
    wide.click('#span-week')
    pressed = [each.text for each in wide.all('[aria-pressed=true]')]
    assert pressed == ['Week']
    axis = in_view(wide, 'return view.scale.axis().upper.map(({label}) => label)')
    assert any(label.startswith(('Mon', 'Tue', 'Wed', 'Thu')) for label in axis)
    wide.click('#makes')
    wide.fill('#search', 'no such name')
    wide.reads('No resource and no lease', '#nothing')
    wide.until(lambda: 'search=no' in wide.driver.current_url)
    wide.go('/leases')
    wide.driver.back()
    wide.reads('No resource and no lease', '#nothing')
    state = wide.script("""return [document.getElementById('makes').checked,
        document.getElementById('search').value, document.getElementById('group').value,
        window.climateTimeline.view.makes, document.querySelector('[aria-pressed=true]').id]""")
    assert state == [False, 'no such name', 'memory_mb', False, 'span-week']


def test_criteria_are_suggested_with_counts_and_one_after_the_other(wide):
    show(wide)
    wide.click('#criteria')

    def suggested():
        return dict(wide.script("""return [...document.getElementById('criteria').list.options]
            .map(({value, text}) => [value, text])"""))

    wide.until(lambda: suggested().get('vcpus=64') == 'resources: 2')
    wide.fill('#criteria', f'vcpus=64{Keys.ENTER}')
    wide.until(lambda: in_view(wide, 'return view.rows.length') == 2)
    wide.fill('#criteria', 'vcpus=64 ')
    # Only values of the resources that are shown, and no other condition about the same property.
    wide.until(lambda: {name: text for name, text in suggested().items() if '_mb=' in name} == {
        'vcpus=64 memory_mb=262144': 'resources: 2'})
    assert not [name for name in suggested() if name.startswith('vcpus=64 vcpus=')]


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl(wide):
    size(wide, 1400, 420)
    show(wide)
    origin = wheel_input.ScrollOrigin.from_element(wide.one('#timeline'))
    for _ in range(2):
        ActionChains(wide.driver).scroll_from_origin(origin, 0, 400).pause(0.3).perform()
    wide.until(lambda: wide.script('return window.scrollY > 0'))
    assert wide.script(
        "return getComputedStyle(document.getElementById('timeline')).touchAction") == 'pan-y'
    span = in_view(wide, 'return view.scale.span')
    in_view(wide, """view.canvas.dispatchEvent(new WheelEvent('wheel', {
        deltaY: -100, ctrlKey: true, cancelable: true, bubbles: true}))""")
    assert in_view(wide, 'return view.scale.span') < span


def test_a_late_answer_never_replaces_a_newer_one(wide):
    show(wide)
    wide.hold('pool=host')
    wide.script('window.climateTimeline.source.refresh()')
    wide.until_held()
    wide.script("""const select = document.getElementById('pool');
        select.value = 'address';
        select.dispatchEvent(new Event('change'))""")
    wide.reads('This pool has no resources', '#nothing')
    wide.release()
    assert in_view(wide, 'return view.rows.length') == 0


def test_names_of_a_series_differ_on_a_phone(wide):
    size(wide, 390, 844, mobile=True)
    show(wide)
    names = in_view(wide, """
        const {painter} = view;
        painter.type('label');
        return ['1', '10', '19'].map((end) => painter.labelWidths.ends(
            `compute-node-of-rack-${end}`, painter.labels - 20));""")
    assert len(set(names)) == 3
    assert [name.endswith(end) for name, end in zip(names, ('-1', '-10', '-19'), strict=True)] == [
        True] * 3
