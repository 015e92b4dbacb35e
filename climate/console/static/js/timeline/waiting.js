// SPDX-License-Identifier: Apache-2.0
// The list of the leases that wait for resources of the pool, below the picture.

import {element, make} from '../dom.js';
import {t} from '../texts.js';
import {seconds, words} from '../times.js';

/**
 * Show who waits.
 *
 * @param {object} queue - "waiting" and "more_wait" of GET /v1/timeline.
 * @param {string} pool - its name.
 */
export function showQueue({waiting, more_wait: more}, pool) {
  const rows = waiting.map((each) => row(each, pool));
  if (!rows.length) rows.push(make('tr', {}, make('td', {colspan: 5, class: 'empty'},
    t('waiting.nobody'))));
  element('waiting-rows').replaceChildren(...rows);
  element('waiting-count').textContent = waiting.length ? `(${waiting.length}${more ? '+' : ''})` : '';
  element('waiting-more').hidden = !more;
}

function row({position, since, acquire_type: type, wanted, kind, lease, status_reason: why}, pool) {
  return make('tr', {},
    make('td', {class: 'number'}, position === null ? '–' : String(position)),
    make('th', {scope: 'row'}, lease ? make('a', {href: `/leases/${lease.id}`}, lease.name)
      : t(`timeline.kind.${kind}`)),
    make('td', {}, t('waiting.for', {wanted, pool: t(`pool.${pool}`)}), make('small', {},
      t(`acquire.${type}`))),
    make('td', {}, make('time', {datetime: since}, words(seconds(since)))),
    make('td', {}, why ?? ''));
}
