// SPDX-License-Identifier: Apache-2.0
// The fields of a new lease that repeat it: the dry run of a series, and its creation. If no answer
// comes, the series may exist, so a repeated request searches for it first.

import {make} from '../dom.js';
import {BadField} from '../problems.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {exactWords, seconds, wallText, words, zoneName} from '../times.js';

const existing = async () => (await call('/series')).body.series;

/** Repeats the lease of a form by a rule, in the chosen zone. */
export class Repetition {
  /**
   * @param {HTMLFormElement} form - with the fields repeat, mode, same_resources, acquire and
   *   while_free.
   * @param {Period} period - of the form.
   */
  constructor(form, period) {
    this.form = form;
    this.period = period;
    this.doubtful = null;
  }

  /** Return whether the lease repeats. */
  get isAsked() { return this.form.repeat.value.trim() !== ''; }

  /** Show the fields that only a series has if the lease repeats. */
  show() {
    for (const part of this.form.querySelectorAll('[data-repeats]')) part.hidden = !this.isAsked;
  }

  /**
   * Try the series without making it.
   *
   * @param {Array} reservations - of each lease.
   * @returns {Promise<object>} as triedLease does.
   * @throws {BadField}
   */
  async tried(reservations) {
    const body = await this._request(reservations);
    const answer = await call('/series', {method: 'POST', body, query: {dry_run: 'true'}});
    return {nodes: previewOf(answer.body.series), create: () => this._create(body),
      yes: t('series.create'), again: t('series.again')};
  }

  /** Return the request for POST /v1/series. */
  async _request(reservations) {
    const {acquire, while_free: step, start, name, repeat, mode} = this.form;
    // A field that is still being understood would remove the refusal.
    await this.period.step.value();
    for (const field of [acquire, step]) {
      if (field.value) throw new BadField(t('series.not_with'), field);
    }
    const {duration} = await this.period.search();
    const first = await this.period.start.value();
    if (!first) throw new BadField(t('series.no_start'), start);
    return {name: name.value, reservations, duration, repeat: repeat.value.trim(),
      // The rule counts in the local time of the zone.
      start: wallText(seconds(first.moment)).replace('T', ' '), time_zone: zoneName(),
      mode: mode.value, same_resources: this.form.same_resources.checked};
  }

  /** Create the series; once, if the request is repeated after its answer was lost. */
  async _create(body) {
    const key = JSON.stringify(body);
    const all = await existing();
    const lost = this.doubtful?.key === key
      && all.find(({id, name}) => !this.doubtful.known.has(id) && name === body.name);
    if (lost) return pathOf(lost);
    const known = new Set(all.map(({id}) => id));
    try {
      const answer = await call('/series', {method: 'POST', body});
      return pathOf(answer.body.series);
    } catch (error) {
      if (error.isOutage && this.doubtful?.key !== key) this.doubtful = {key, known};
      throw error;
    }
  }
}

const pathOf = ({id}) => `/leases?series_id=${id}`;

/** Say what each occurrence of a series would get, or why not. */
function previewOf({occurrences, repeat, time_zone: zone, mode}) {
  const fitting = occurrences.filter(({fits}) => fits).length;
  const count = occurrences.length;
  return [
    make('p', {}, t('series.rule', {rule: repeat, zone})),
    make('p', {}, t('series.fitting', {fitting, count})),
    fitting < count ? make('p', {class: 'note'}, t(`series.note.${mode}`)) : null,
    make('ol', {class: 'dates', tabindex: 0, 'aria-label': t('series.dates')},
      ...occurrences.map(lineOf))];
}

function lineOf({number, start, end, fits, problem, nearest}) {
  return make('li', {value: number, class: fits ? null : 'problem'},
    make('strong', {}, words(seconds(start))), ` – ${words(seconds(end))}: `,
    fits ? t('series.fits') : `${t('series.fits_not')} ${problem ?? ''}`,
    nearest ? ` ${t('series.nearest', {start: exactWords(seconds(nearest))})}` : null);
}
