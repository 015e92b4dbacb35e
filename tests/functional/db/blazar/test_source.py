# SPDX-License-Identifier: Apache-2.0
"""Sources of an import that are no database of Blazar, and older or extended schemas."""
import pytest

from climate.db.blazar import conversion
from climate.db.blazar import source


@pytest.mark.parametrize(('url', 'words'), [
    ('', 'Write mysql+pymysql://'), ('blazar', 'Write mysql+pymysql://'),
    ('nosuch://localhost/blazar', 'Write mysql+pymysql://'),
    ('mysql+pymysql://blazar@localhost:SECRET/blazar', 'Write mysql+pymysql://'),
    ('sqlite:////nowhere/blazar.sqlite', 'there is no file'),
    ('mysql+pymysql://blazar:SECRET@127.0.0.1:1/blazar', 'Check the address'),
    ('postgresql+psycopg2://blazar:SECRET@127.0.0.1:1/blazar?sslmode=odd', 'Check the address'),
    *((text, 'names no database') for text in (
        'mysql+pymysql://blazar:SECRET@127.0.0.1:1', 'sqlite://',
        'mysql+pymysql://blazar:SECRET@127.0.0.1:1/')),
    *((f'mysql+pymysql://blazar:SECRET@127.0.0.1:1/blazar?{option}', 'the options after "?"')
      for option in ('nosuch=1', 'charset=nosuch', 'ssl=true', 'ssl_ca=/nowhere'))])
def test_a_wrong_url_is_refused_with_the_way_out(url, words):
    with pytest.raises(source.NotBlazar, match='--source') as refused:
        source.read(url)
    assert words in str(refused.value)
    assert 'SECRET' not in str(refused.value)


@pytest.mark.parametrize(('content', 'words'), [
    (b'', 'it lacks leases.id'), (b'a text, but no database ' * 99, 'is not a database')])
def test_a_file_of_another_kind_is_refused(tmp_path, content, words):
    path = tmp_path / 'file'
    path.write_bytes(content)
    with pytest.raises(source.NotBlazar, match=words):
        source.read(f'sqlite:///{path}')


def test_a_database_of_another_service_is_refused(blazar):
    blazar.execute('DROP TABLE computehost_allocations')
    with pytest.raises(source.NotBlazar, match=r'computehost_allocations\.compute_host_id'):
        source.read(blazar.url)


def test_a_schema_without_the_columns_of_later_releases_is_read(blazar, manager):
    blazar.execute('ALTER TABLE computehosts DROP COLUMN availability_zone')
    blazar.execute('ALTER TABLE instance_reservations DROP COLUMN server_group_id')
    blazar.execute('DROP TABLE computehost_trait')
    converted = conversion.convert(source.read(blazar.url), manager.core.registry,
                                   manager.clock())
    assert len(converted.leases) == 15 and not converted.problems


def test_tables_of_a_fork_are_reported_and_left_out(blazar, manager):
    blazar.execute('CREATE TABLE network_allocations (id, network_id)')
    blazar.execute("INSERT INTO network_allocations VALUES ('a', 'b')")
    converted = conversion.convert(source.read(blazar.url), manager.core.registry,
                                   manager.clock())
    assert [problem.what for problem in converted.problems] == ['table network_allocations']


def test_a_database_to_which_programs_are_connected_is_refused(blazar):
    with source.opened(blazar.url, '--target') as database:
        database.refuse_connected(None)
        database.refuse_connected(0)
        with pytest.raises(source.NotBlazar, match='2 other programs are connected to this'):
            database.refuse_connected(2)


def test_an_error_about_a_malformed_url_has_no_password():
    with pytest.raises(source.NotBlazar, match='--source: this is not the URL') as refused:
        source.read('mysql+pymysql:/blazar:SECRET@controller/blazar')
    assert 'SECRET' not in str(refused.value) and refused.value.__suppress_context__
