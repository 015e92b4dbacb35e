// SPDX-License-Identifier: Apache-2.0
// The dialog that extends a lease: by a duration, until a moment, or as far as possible.

import {openForm} from '../dialog.js';
import {make} from '../dom.js';
import {BadField} from '../problems.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {DurationField, MomentField, durationNode, momentNode} from '../time_fields.js';
import {seconds, typed, words} from '../times.js';
import {moveEnd} from './changes.js';
import {undoable} from './undo.js';

// How many resources of one booking are named.
const MOST_NAMES = 3;

/**
 * Open the dialog.
 *
 * @param {object} lease - id, end (ISO text) and etag.
 */
export function openExtension({id, end, etag}) {
  const nodes = [durationNode({name: 'by', label: t('lease.extend_by'), value: '1h'}),
    momentNode({name: 'until', label: t('extend.until'), help: t('new.end_help')})];
  const by = new DurationField(nodes[0].querySelector('input'), () => seconds(end));
  const until = new MomentField(nodes[1].querySelector('input'), end);
  const latest = make('div', {class: 'latest', 'aria-live': 'polite'}, t('extend.asks'));
  by.excludes(until);

  async function newEnd() {
    const [length, moment] = [await by.value(), await until.value()];
    if (length) return seconds(end) + length.seconds;
    if (!moment) throw new BadField(t('new.no_end'), by.input);
    if (seconds(moment.moment) > seconds(end)) return seconds(moment.moment);
    throw new BadField(t('extend.not_later', {end: words(seconds(end))}), until.input);
  }

  function showLatest(found) {
    const moment = seconds(found.end);
    if (!found.limited) {
      latest.textContent = t('extend.unlimited');
      return;
    }
    const possible = moment > seconds(end);
    if (found.opens_at) {
      latest.replaceChildren(make('p', {}, t('extend.opens', {
        rule: found.rule, at: words(seconds(found.opens_at))})));
      return;
    }
    latest.replaceChildren(
      make('p', {}, t(possible ? 'extend.latest' : 'extend.never', {end: words(moment)})),
      found.obstacles.length ? make('ul', {}, ...obstacleWords(found.obstacles).map(
        (line) => make('li', {}, line))) : make('p', {}, found.reason ?? ''));
    if (!possible) return;
    latest.append(make('button', {type: 'button', class: 'quiet',
      onclick: () => until.fill(typed(moment))}, t('extend.take_latest')));
  }

  openForm({
    title: t('lease.extend'), yes: t('lease.extend'),
    content: [
      make('p', {}, t('extend.now', {end: words(seconds(end))})), latest, ...nodes],
    act: async () => undoable(id, {end}, moveEnd(id, await newEnd(), etag)),
    done: () => location.reload()});
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
