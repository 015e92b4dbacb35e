# SPDX-License-Identifier: Apache-2.0
"""The rules of the architecture: imports between layers, and facts that all layers must share."""
import ast
import collections
import functools
import inspect
import pathlib
import re

from oslo_config import cfg
from oslo_policy import policy as oslo_policy
import pytest

from climate import errors
from climate import policies
from climate import version
from climate.api import error_names
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.policies import resources as resource_policies

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ROOT / 'climate'

# A part imports from lower levels only, never from its own.
LEVELS = {
    'cmd': 4,
    'api': 3, 'manager': 3, 'console': 3,
    'rpc': 2, 'db': 2, 'cloud': 2, 'plugins': 2, 'strategies': 2, 'forecasts': 2,
    'notifiers': 2, 'policy': 2, 'power': 2, 'enforcement': 2,
    'domain': 1, 'context': 1, 'loading': 1, 'policies': 1,
    'errors': 0, 'conf': 0, 'version': 0, 'backend': 0, 'extras': 0, 'moments': 0,
    'schema_validation': 0, 'yaml_text': 0, 'json_text': 0, 'bounded_http': 0,
}
# The packages of the manager, from the entry point inwards. A package imports from packages below
# it only. The modules of the last row import no package; all packages may use them.
ROOMS = (
    ('service', 'endpoint', 'periodic', 'metrics_server', 'metrics', 'login', 'heartbeats',
     'prerequisites'),
    ('events',),
    ('audit',),
    ('maintenance',),
    ('idle',),
    ('usage',),
    ('series',),
    ('transfers',),
    ('leases',),
    ('shares',),
    ('acquisition',),
    ('clearing',),
    ('pools',),
    ('planning',),
    ('booking',),
    ('billing',),
    ('limits',),
    ('enforcement',),
    ('health',),
    ('energy',),
    ('queue',),
    ('notifications',),
    ('sub_leases',),
    ('core', 'counters', 'ownership', 'results', 'lease_cloud', 'preparations',
     'change_counts', 'owner_names', 'property_values', 'request_limit', 'request_secrets',
     'book_versions', 'enabled_names', 'known_versions'),
)
# The module of the manager that may name a package of plugins, because Nova's scheduler asks it.
KNOW_A_SERVICE = {'leases/reservation_hosts.py'}
# What gives a module of the manager the faces of the cloud's services.
IDENTITIES = {'as_service', 'as_user', 'as_user_redelegated', 'as_owner_or_service'}
# These are outside the other packages and import nothing of them.
ALONE = {'client', 'nova'}
# The few that have a reason: the simulated scheduler decides with the rules of the real filter;
# conf, extras and the client ask for the version; the API reads the plugins' schemas but never
# makes one; the standalone leaves its note where the client looks for it; the client and the pieces
# in Nova read times as the service does; the console is a user of the client.
ALSO = {('cloud', 'nova'), ('conf', 'errors'), ('conf', 'version'), ('extras', 'version'),
        ('client', 'version'), ('cmd', 'client'), ('client', 'moments'), ('client', 'yaml_text'),
        ('nova', 'moments'), ('client', 'json_text'), ('nova', 'json_text'), ('console', 'client')}
# Foreign packages and the only parts that may import them.
FENCED = {
    'sqlalchemy': {'db'}, 'alembic': {'db'}, 'oslo_db': {'db', 'conf'},
    'novaclient': {'cloud'}, 'openstack': {'cloud', 'client', 'power'}, 'keystoneauth1': {
        'api', 'cloud', 'client', 'conf', 'console', 'nova', 'power'},
    'pecan': {'api'}, 'webob': {'api'}, 'stevedore': {
        'loading', 'plugins'},
    'sushy': {'power'}, 'yaml': {'yaml_text', 'client'}, 'jsonschema': {'schema_validation'},
    'email_validator': {'notifiers'},
    'numpy': {'db', 'forecasts', 'manager'}, 'statsmodels': {'forecasts'}, 'nova': {'nova'},
    'cliff': {'client'}, 'osc_lib': {'client'}, 'flask': {'console'}, 'werkzeug': {'console'},
}
# The domain is pure: the standard library, and dateutil for rules of recurrence.
PURE = {'dataclasses', 'datetime', 'calendar', 'collections', 'enum', 'typing', 'functools',
        'itertools', 'decimal', 'hashlib', 'json', 'math', 'operator', 're', 'difflib', 'heapq',
        'bisect', 'fractions', 'unicodedata', 'uuid', 'zlib', 'contextlib', 'zoneinfo', 'dateutil'}


@functools.cache
def parsed(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text())


@functools.cache
def files():
    return sorted(path for path in CODE.rglob('*.py') if 'alembic/versions' not in str(path))


def part_of(path):
    return path.relative_to(CODE).parts[0].removesuffix('.py')


def imports(path):
    """The dotted names that a file imports, wherever in it."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            yield from (f'{node.module}.{each.name}' for each in node.names)


@functools.cache
def each_import():
    """Triples (path, part, dotted name) of all imports of all files."""
    return [(path, part_of(path), name) for path in files() for name in imports(path)]


def test_a_part_imports_from_lower_levels_only():
    for path, part, name in each_import():
        words = name.split('.')
        if part == '__init__' or words[0] != 'climate' or len(words) == 1:
            continue
        other = words[1]
        if other == part or (part, other) in ALSO:
            continue
        assert part not in ALONE, f'{path} stands alone and imports {name}'
        assert other not in ALONE, f'{path} imports {name}, which stands alone'
        assert LEVELS[other] < LEVELS[part], f'{path} ({part}) imports {name} ({other})'


def test_a_room_of_the_manager_imports_from_rooms_below_it_only():
    level = {room: -number for number, row in enumerate(ROOMS) for room in row}
    known = {path.stem for path in (CODE / 'manager').iterdir()
             if not path.stem.startswith('__')}
    assert known == set(level)
    for path in sorted((CODE / 'manager').rglob('*.py')):
        if path == CODE / 'manager' / '__init__.py':
            continue
        room = path.relative_to(CODE / 'manager').parts[0].removesuffix('.py')
        for name in imports(path):
            words = name.split('.')
            if words[:2] != ['climate', 'manager'] or len(words) < 3 or words[2] == room:
                continue
            assert level[words[2]] <= level[room], f'{path} imports {name}, which is above it'


def services_reached(path):
    """Pairs (line, face or None) of each use of the cloud's services in a file.

    None: the services are not used for one face at once, so that nobody can say which are used.
    """
    tree = parsed(path)
    faces = {id(node.value): node.attr for node in ast.walk(tree)
             if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (
                node.func.attr in IDENTITIES):
            yield node.lineno, faces.get(id(node))


def test_the_manager_reaches_services_through_plugins_only():
    # Trusts are the manager's own; lease_cloud.py is the cloud that plugins get.
    reached = {(str(path.relative_to(CODE)), face)
               for path in (CODE / 'manager').rglob('*.py') for _, face in services_reached(path)
               if path.name != 'lease_cloud.py'}
    assert {face for _, face in reached} == {'keystone'}, reached


def test_the_manager_knows_no_package_of_plugins():
    found = {str(path.relative_to(CODE / 'manager')) for path in (CODE / 'manager').rglob('*.py')
             for name in imports(path) if name.startswith('climate.plugins.compute')}
    assert found == KNOW_A_SERVICE


@pytest.mark.parametrize('path', sorted((CODE / 'manager' / 'clearing').glob('*.py')),
                         ids=lambda path: path.name)
def test_host_clearing_knows_no_service(path):
    assert not re.findall('(?i)nova|placement|keystone|hypervisor', path.read_text())
    assert [name for name in imports(path) if name.startswith('climate.cloud')] == []


def test_no_folders_import_each_other():
    graph = collections.defaultdict(set)
    folders = {'.'.join(path.parent.relative_to(ROOT).parts) for path in files()}
    for path in files():
        folder = '.'.join(path.parent.relative_to(ROOT).parts)
        for name in imports(path):
            package = name.rpartition('.')[0]
            # The name itself may be a folder, or what is imported from a module of one.
            found = next((each for each in (name, package, package.rpartition('.')[0])
                          if each in folders), None)
            # A folder and its parent are one package, whose modules make no circle either.
            if found and not f'{folder}.'.startswith(f'{found}.') and not (
                    f'{found}.'.startswith(f'{folder}.')):
                graph[folder].add(found)
    reached = {}

    def reach(folder, seen):
        for each in graph[folder] - seen:
            seen.add(each)
            reach(each, seen)
        return seen
    for folder in sorted(graph):
        reached[folder] = reach(folder, set())
    assert [folder for folder, below in reached.items() if folder in below] == []


def test_foreign_packages_stay_in_their_parts():
    for path, part, name in each_import():
        package = name.split('.')[0]
        if package in FENCED:
            assert part in FENCED[package], f'{path} imports {name}'
        if part == 'domain':
            assert package in PURE | {'climate'}, f'{path} imports {name}'


def test_no_module_imports_itself_in_a_circle():
    graph = {}
    names = {'.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__'):
             path for path in files()}
    for module, path in names.items():
        tree = parsed(path)
        # What a function imports when it runs makes no circle at import.
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        wanted = set()
        for node in top:
            if isinstance(node, ast.Import):
                wanted |= {each.name for each in node.names}
            else:
                wanted |= {f'{node.module}.{each.name}' for each in node.names}
        graph[module] = {each for each in wanted if each in names and each != module}

    done, open_now = set(), []

    def visit(module):
        assert module not in open_now, f'a circle: {open_now[open_now.index(module):]}'
        if module in done:
            return
        open_now.append(module)
        for each in sorted(graph[module]):
            visit(each)
        done.add(open_now.pop())

    for module in sorted(graph):
        visit(module)


def test_client_and_endpoint_agree_on_every_method():
    from climate.manager import endpoint
    from climate.rpc import client
    asked = dict(inspect.getmembers(client.ManagerClient, inspect.isfunction))
    answered = dict(inspect.getmembers(endpoint.Endpoint, inspect.isfunction))
    names = {name for name in asked if not name.startswith('_')}
    assert names == {name for name in answered if not name.startswith('_')}
    for name in names:
        there = inspect.signature(inspect.unwrap(answered[name])).parameters
        here = inspect.signature(asked[name]).parameters
        # The client does not send arguments that have their defaults.
        assert [(each.name, each.default) for each in here.values() if each.name != 'timeout'] == [
            (each.name, each.default) for each in there.values()], name


def test_every_error_has_a_code_of_its_own_and_is_documented():
    def below(klass):
        yield klass
        for each in klass.__subclasses__():
            yield from below(each)
    tree = [each for each in below(errors.ClimateError) if each.__module__ == 'climate.errors']
    codes = [each.code for each in tree]
    assert len(set(codes)) == len(codes)
    told = {(each.code, each.status) for each in tree} | {
        (code, each.status) for names in (error_names.OF_HOSTS, error_names.OF_SERVERS)
        for each, code in names.items()}
    page = (ROOT / 'doc/source/api/errors.rst').read_text()
    missing = [f'{code} ({status})' for code, status in sorted(told)
               if f'``{code}`` ({status})' not in page]
    assert missing == []


def test_every_policy_is_in_the_page_for_operators_with_its_default():
    page = (ROOT / 'doc/source/admin/policy.rst').read_text()
    table = page[page.index('     - Default'):page.index('\n\n', page.index('     - Default'))]
    rows = [row.split('\n     - ') for row in table.split('\n   * - ')[1:]]
    written = set()
    for names, _what, default in rows:
        noun = ''
        for name in re.findall('``(.*?)``', names):
            # Rules of one noun share a row; all but the first are named by their last word there.
            noun = name.rpartition(':')[0] or noun
            written.add((f'{noun}:{name.rpartition(":")[2]}', default))
    rules = [*policies.list_rules(), *resource_policies.list_rules(['{pool}'], ['floatingips'])]
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    enforcer = oslo_policy.Enforcer(conf)
    enforcer.register_defaults(rules)
    owner = {'project_id': 'demo', 'user_id': 'ann', 'scope': 'project'}
    assert written == {(rule.name, ', '.join(
        role for role in ('reader', 'member', 'service', 'admin')
        if enforcer.enforce(rule.name, owner, {**owner, 'roles': [role]})))
        for rule in rules if rule.name.startswith('climate:')}


def test_the_picture_of_the_states_is_the_one_of_the_table():
    drawn = (ROOT / 'doc/source/contributor/lease.dot').read_text()
    assert drawn == lifecycle.as_dot()


def test_the_table_of_events_in_the_pages_is_the_one_of_the_code():
    written = (ROOT / 'doc/source/contributor/events.csv').read_text()
    assert written == event_kinds.as_csv()


def test_every_entry_point_can_be_loaded():
    from importlib import metadata
    loaded = [point.load() for point in metadata.distribution(version.DISTRIBUTION).entry_points]
    assert len(loaded) > 20


def test_the_sample_configuration_has_every_option():
    from climate import conf as configuration
    listed = {(str(getattr(group, 'name', group)), option.name)
              for group, options in configuration.list_opts() for option in options}
    conf = configuration.register(cfg.ConfigOpts())
    ours = {'DEFAULT', 'api', 'manager', 'acquire', 'health', 'cloud', 'keystone', 'nova',
            'placement', 'glance', 'simulated', 'notifications', 'mail', 'webhook'}
    own = ('config_file', 'config_dir', 'config_source', 'shell_completion')
    registered = {('DEFAULT', name) for name in conf._opts if name not in own}
    for group in ours - {'DEFAULT'}:
        registered |= {(group, name) for name in conf._groups[group]._opts}
    assert {(group, name.replace('_', '-')) for group, name in registered} <= {
        (group, name.replace('_', '-')) for group, name in listed}


def test_every_program_that_a_text_of_the_code_names_exists():
    from importlib import metadata
    programs = {point.name for point in metadata.entry_points(group='console_scripts')}
    named = {(path.name, word) for path in CODE.rglob('*.py')
             for word in re.findall(r'"(climate-[a-z]+)[ "]', path.read_text())}
    assert len(named) > 5
    assert [each for each in named if each[1] not in programs] == []


def test_every_command_of_the_client_is_a_command_of_openstack():
    from importlib import metadata

    from climate.client import commands
    named = {point.name for point in metadata.entry_points(group='openstack.extension')
             if point.value.startswith('climate.')}
    assert named == {'reservation_' + name.replace(' ', '_') for name in commands.TABLE}


# Class names that two modules have. The list only gets shorter.
SHARED_NAMES = {'Source'}


def test_a_class_name_is_unique_in_the_service():
    modules = collections.defaultdict(set)
    for path in files():
        if part_of(path) != 'client':
            for node in parsed(path).body:
                if isinstance(node, ast.ClassDef):
                    modules[node.name].add(path)
    assert {name for name, paths in modules.items() if len(paths) > 1} == SHARED_NAMES


# The nouns of the REST interface, and the layers that have a file for each. The command line has
# the singular, because its commands do.
LAYERS = {'A': 'api/controllers', 'P': 'policies', 'L': 'client', 'D': 'db', 'T': 'db/tables',
          'R': 'domain/records', 'M': 'manager'}
NOUNS = {
    'allocations': 'LDM', 'audit': 'APLM', 'availability': 'APL', 'energy': 'APLM', 'hosts': 'PL',
    'leases': 'APLDTRM', 'limit_books': 'APLD', 'maintenances': 'APLDTM', 'offers': 'APLDRM',
    'plans': 'APL', 'price_books': 'APLD', 'properties': 'LM', 'reservations': 'APDR',
    'resources': 'APLDTRM', 'series': 'APLDTM', 'servers': 'APL', 'services': 'APL',
    'shares': 'APLDTM', 'statements': 'APLT', 'subscriptions': 'APLDTM', 'timeline': 'APM',
    'transfers': 'APLDTM', 'usage': 'APLTM',
}


def test_a_noun_has_the_same_file_name_in_each_layer():
    found = collections.defaultdict(str)
    for letter, layer in LAYERS.items():
        names = {path.stem for path in (ROOT / 'climate' / layer).iterdir()}
        if layer == 'manager':
            names |= {path.stem for path in (ROOT / 'climate' / layer).glob('*/*.py')}
        else:
            # The manager has packages of activities, such as maintenance.
            others = {noun.removesuffix('s') for noun in NOUNS if noun.endswith('s')} - {'service'}
            assert not names & others, f'{layer}: {names & others}'
        for noun in names & NOUNS.keys():
            found[noun] += letter
    assert found == NOUNS


def test_a_file_begins_with_its_licence_and_one_sentence():
    for path in files():
        lines = path.read_text().splitlines()
        assert lines[0] == '# SPDX-License-Identifier: Apache-2.0', path
        assert len(lines) == 1 or ast.get_docstring(parsed(path)), (
            f'{path} does not say what it does')


def test_an_error_that_is_made_is_raised():
    names = {name for name, each in vars(errors).items() if inspect.isclass(each)}
    for path in files():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                made = node.value.func
                name = made.attr if isinstance(made, ast.Attribute) else getattr(made, 'id', '')
                assert name not in names, f'{path}:{node.lineno} makes {name} and drops it'


def test_every_test_that_the_list_of_known_faults_names_is_there():
    text = (ROOT / 'doc/source/contributor/known-faults.rst').read_text()
    there = {name for path in (ROOT / 'tests').rglob('test_*.py')
             for name in re.findall(r'^ *def (\w+)', path.read_text(), re.MULTILINE)}
    named = set(re.findall(r'``(test_\w+)``', text)) - {'test_a', 'test_b'}
    assert len(named) > 20
    assert named <= there, named - there
    assert {each for each in there if re.match(r'test_(a\d+|b)_', each)} <= named


# Tests of what several modules do together: their names say what that is.
STORIES = {
    'unit': {'test_nova_whatever_comes', 'test_package_files', 'test_plugin_contract',
             'test_pool_contract', 'test_same_on_every_run'},
    'functional/db': {'test_statement_counts', 'test_upgrade'},
    'functional/manager': {'test_cleaning', 'test_gone_objects', 'test_lease_races',
                           'test_lock_order', 'test_outages', 'test_several_needs',
                           'test_two_climates'},
}
# The parts of climate/ whose modules the tests in a folder are about.
TESTED = {'functional/db': ('db',), 'functional/manager': ('manager', 'plugins')}
EXAMPLES = ROOT / 'doc/source/contributor/examples'


def test_a_test_file_carries_the_name_of_the_module_that_it_tests():
    for room, stories in STORIES.items():
        tests = ROOT / 'tests' / room
        wrong = {path.stem for path in tests.rglob('test_*.py') if not _names_a_module(
            path.stem, TESTED.get(room) or path.relative_to(tests).parts[:-1])}
        assert wrong == stories, room


def _names_a_module(stem, parts):
    """Return whether a test file is named after a module or folder, and maybe an aspect of it."""
    words = stem.split('_')[1:]
    begins = {'_'.join(words[:count]) for count in range(1, len(words) + 1)}
    for home in _homes(parts):
        # The name of a whole part says too little to have an aspect.
        names = begins if len(home) > 1 else {'_'.join(words)}
        if names & {'_'.join(home[start:]) for start in range(len(home))}:
            return True
    return False


@functools.cache
def _homes(parts):
    """Return the places of the modules and folders in those parts, or of all code, as tuples."""
    paths = [path.relative_to(CODE) for path in files() if not parts or part_of(path) in parts]
    paths += [path.relative_to(EXAMPLES) for path in EXAMPLES.glob('*.py')]
    if not parts:
        paths += [path.relative_to(ROOT) for folder in ('benchmarks', 'tools')
                  for path in (ROOT / folder).rglob('*.py')]
    places = [path.with_suffix('').parts for path in paths]
    return {place[:-1] if place[-1] == '__init__' else place for place in places} - {()}
