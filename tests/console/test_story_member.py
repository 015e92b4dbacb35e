# SPDX-License-Identifier: Apache-2.0
"""Stories of a member, who is no administrator and sees only the own project, in a real browser."""
import pytest
from support import browser

NAMES = ['compute-1', 'compute-2']


@pytest.fixture(scope='module')
def console(standalone):
    """The console of eve, a member of the project physics."""
    with browser.console_of(standalone, 'eve', 'physics', 'member', 'reader') as found:
        yield found


@pytest.fixture
def member(page, console):
    """A Page of eve. An administrator leases two hosts in another project."""
    lease = page.standalone.lease('secret plans', 2, duration='3h')
    page.standalone.client.leases.wait(lease['id'])
    found = browser.Page(page.driver, console)
    found.log_in()
    found.others = lease
    return found


def test_a_member_makes_extends_and_ends_a_lease(member):
    client = member.standalone.client
    member.reads('eve in physics', '.who')
    member.go('/leases')
    member.press('New lease')
    member.fill('[name=name]', 'lattice')
    member.reads('6 are free then', '#counts')
    member.press('Check')
    member.press('Create the lease')
    member.reads('lattice', 'h1')
    member.reads('active', 'h1')
    (lease,) = client.leases.list()
    assert lease['project_id'] == 'physics'
    member.press('Extend…')
    member.fill('dialog [name=by]', '1h')
    member.click('dialog .main')
    member.reads('The end of the lease was changed.', '#messages')
    assert client.leases.get(lease['id'])['end'] > lease['end']
    # A change of its state by itself would refuse the end as stale.
    member.reads('active', 'h1')
    member.press('End it now')
    member.click('dialog button[value=yes]')
    member.until(lambda: client.leases.get(lease['id'])['status'] == 'terminated')
    member.go('/leases')
    member.press('Past')
    member.reads('lattice', '#leases')


def test_a_member_sees_no_names_of_other_projects_and_no_page_of_operators(member):
    nav = member.text('header nav')
    assert 'Timeline' in nav and 'Operator' not in nav
    member.go('/')
    member.until(lambda: member.all('#timeline[data-bars]'))
    lanes = member.until(lambda: member.script("""
        return window.climateTimeline.view.rows.flatMap(({lane}) => lane.kinds.map(
            (kind, index) => [kind, lane.leases[index]?.name ?? null])
              .filter((each, index) => lane.ends[index] > Date.now() / 1000));"""))
    assert {tuple(each) for each in lanes} == {('others', None)}
    member.go('/leases?which=all')
    assert 'secret plans' not in member.text() and not member.all('a[href*=all_projects]')
    member.go(f'/leases/{member.others["id"]}')
    member.reads('Something went wrong', 'h1')
    member.go('/operator')
    member.reads('Something went wrong', 'h1')
    member.go('/capacity')
    member.reads('Usage of the last 30 days')
    # Utilisation is for administrators.
    member.until(lambda: not member.one('#utilisation').is_displayed())
    assert 'secret plans' not in member.text()


def test_the_drag_of_a_member_takes_a_number_of_hosts_because_names_are_not_shown(member):
    member.go('/leases/new?pool=host&count=2&resources=')
    member.reads('Climate chooses the resources')
    assert not any(name in member.text() for name in NAMES)
