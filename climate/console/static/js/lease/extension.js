// SPDX-License-Identifier: Apache-2.0
// The dialog that extends a lease: by a duration, until a moment, or as far as possible.

import {openForm} from '../dialog.js';
import {make} from '../dom.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {fromLocal, local, seconds, words, zoneName} from '../times.js';
import {duration} from '../translations.js';
import {moveEnd} from './changes.js';

// How many resources of one booking are named.
const MOST_NAMES = 3;

/**
 * Open the dialog.
 *
 * @param {object} lease - id, end (ISO text) and etag.
 */
export function openExtension({id, end, etag}) {
  const by = make('input', {name: 'by', value: '1h', spellcheck: 'false', autocomplete: 'off'});
  const until = make('input', {name: 'until', type: 'datetime-local', min: local(seconds(end))});
  const latest = make('div', {class: 'latest', 'aria-live': 'polite'}, t('extend.asks'));
  // A field counts in minutes; the latest end may have seconds.
  let exact = null;
  by.addEventListener('input', () => { if (by.value) until.value = ''; });
  until.addEventListener('input', () => { if (until.value) by.value = ''; });

  async function newEnd() {
    if (until.value && until.value === exact?.shown) return exact.moment;
    if (until.value) return fromLocal(until.value, (text) => t('zone.skipped', {text}));
    const {seconds: length, problem} = await duration(by.value);
    if (problem) throw new Error(problem);
    return seconds(end) + length;
  }

  function showLatest(found) {
    const moment = seconds(found.end);
    if (!found.limited) {
      latest.textContent = t('extend.unlimited');
      return;
    }
    const possible = moment > seconds(end);
    latest.replaceChildren(
      make('p', {}, t(possible ? 'extend.latest' : 'extend.never', {end: words(moment)})),
      found.obstacles.length ? make('ul', {}, ...obstacleWords(found.obstacles).map(
        (line) => make('li', {}, line))) : make('p', {}, found.reason ?? ''));
    if (!possible) return;
    latest.append(make('button', {type: 'button', class: 'quiet', onclick: () => {
      exact = {shown: local(moment), moment};
      [until.value, by.value] = [exact.shown, ''];
    }}, t('extend.take_latest')));
  }

  openForm({
    title: t('lease.extend'), yes: t('lease.extend'),
    content: [
      make('p', {}, t('extend.now', {end: words(seconds(end))})), latest,
      make('label', {}, t('lease.extend_by'), by),
      make('label', {}, `${t('extend.until')} (${zoneName()})`, until)],
    act: async () => moveEnd(id, await newEnd(), etag), done: () => location.reload()});
  call(`/leases/${id}/latest_end`).then(({body}) => showLatest(body.latest_end),
    (error) => { latest.textContent = error.message; });
}

/** Say which bookings prevent a later end, each once for all of its resources. */
function obstacleWords(obstacles) {
  const groups = Map.groupBy(obstacles, (each) => JSON.stringify(
    [each.kind, each.lease_id, each.start]));
  return [...groups.values()].map((group) => {
    const [first] = group;
    return t(first.lease_name ? 'extend.because.named' : `extend.because.${first.kind}`, {
      resources: namesOf(group), lease: first.lease_name, start: words(seconds(first.start))});
  });
}

/** Name the first resources of some obstacles. */
function namesOf(group) {
  const names = group.map((each) => each.resource_name
    ?? t('timeline.resource', {id: each.resource_id}));
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return names.length > MOST_NAMES
    ? t('extend.and_more', {resources: shown, count: names.length - MOST_NAMES}) : shown;
}
