// SPDX-License-Identifier: Apache-2.0
// The fields of a new lease that say when it begins, how long it lasts, and whether it goes on.

import {BadField} from '../problems.js';
import {t} from '../texts.js';
import {DurationField, MomentField} from '../time_fields.js';
import {exactDuration, now, seconds, typed} from '../times.js';
import {isNow} from './answer.js';

export class Period {
  /** @param {HTMLFormElement} form - with the fields start, end, duration and while_free. */
  constructor(form) {
    this.start = new MomentField(form.start);
    this.end = new MomentField(form.end, this.start);
    this.length = new DurationField(form.duration, () => this._startOrNow());
    this.step = new DurationField(form.while_free);
    this.start.onChange(() => this.length.again());
    this.end.excludes(this.length);
  }

  /**
   * Return the fields as POST /v1/leases takes them.
   *
   * @throws {BadField}
   */
  async value() {
    const step = await this.step.value();
    return {...await this._span(), ...(step ? {while_free: step.seconds} : {})};
  }

  /**
   * Return the earliest start and the duration, as GET /v1/availability takes them.
   *
   * @throws {BadField}
   */
  async search() {
    const {start: earliest, end: last, duration} = await this._span();
    if (!last) return {earliest, duration};
    const length = Math.round(seconds(this.end.last.moment) - this._startOrNow());
    if (length <= 0) throw new BadField(t('new.end_first'), this.end.input);
    return {earliest, duration: length};
  }

  /** Enter a start; a lease with an end keeps its duration. */
  async takeStart(moment) {
    this.takeDuration((await this.search()).duration);
    this.start.fill(isNow(moment) ? '' : typed(seconds(moment)));
  }

  takeDuration(length) { this.length.fill(exactDuration(length)); }

  takeStep(length) { this.step.fill(exactDuration(length)); }

  /** Enter a span in seconds since 1970; a start that is over means now. */
  takeSpan(first, last) {
    if (first > now()) this.start.fill(typed(first));
    if (last > first) this.takeDuration(last - Math.max(first, now()));
  }

  async _span() {
    const [first, last, span] = [await this.start.value(), await this.end.value(),
      await this.length.value()];
    if (!last && !span) throw new BadField(t('new.no_end'), this.length.input);
    return {...(first ? {start: first.wire} : {}),
      ...(last ? {end: last.wire} : {duration: span.seconds})};
  }

  _startOrNow() {
    return this.start.last?.moment ? seconds(this.start.last.moment) : now();
  }
}
