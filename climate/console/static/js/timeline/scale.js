// SPDX-License-Identifier: Apache-2.0
// The scale of a timeline: which moment is at which pixel, and where ticks are.

import {DAY, HOUR, MINUTE, YEAR, atWall, timeOfDay, wall, wallText} from '../times.js';

const SHORTEST = 10 * MINUTE;
const LONGEST = 2 * YEAR;
// The least distance of two ticks, in pixels.
const TICK_PIXELS = 80;
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY,
  7 * DAY, 14 * DAY];
const MONTH_STEPS = [1, 2, 3, 6, 12];
const DAYS = formatOf({weekday: 'short', day: 'numeric', month: 'short', year: 'numeric'});
const SHORT_DAYS = formatOf({weekday: 'short', day: 'numeric'});
const MONTHS = formatOf({month: 'long', year: 'numeric'});
const SHORT_MONTHS = formatOf({month: 'short'});
const YEARS = formatOf({year: 'numeric'});

export class Scale {
  /**
   * @param {number} start - the moment at the left edge, in seconds.
   * @param {number} span - the seconds from the left to the right edge.
   * @param {number} width - in pixels.
   */
  constructor(start, span, width) {
    this.width = Math.max(1, width);
    this.span = Math.min(LONGEST, Math.max(SHORTEST, span));
    this.start = start;
  }

  get end() { return this.start + this.span; }

  get secondsPerPixel() { return this.span / this.width; }

  x(moment) { return (moment - this.start) / this.secondsPerPixel; }

  moment(x) { return this.start + x * this.secondsPerPixel; }

  /** Return the scale moved by pixels; a positive number shows later moments. */
  moved(pixels) {
    return new Scale(this.start + pixels * this.secondsPerPixel, this.span, this.width);
  }

  /** Return the scale zoomed by a factor; the moment at a pixel stays there. */
  zoomed(factor, x = this.width / 2) {
    const fixed = this.moment(x);
    const found = new Scale(0, this.span / factor, this.width);
    found.start = fixed - x * found.secondsPerPixel;
    return found;
  }

  resized(width) { return new Scale(this.start, this.span, width); }

  /** Return the ticks in sight, [{moment, label, strong}]; strong ones begin a day or a year. */
  ticks() { return this.axis().lower; }

  /**
   * Return the two lines of the axis: "lower" are the ticks; "upper" are the days, months or years
   * that have them, [{moment, label}], the first of which may begin before the scale.
   */
  axis() {
    const least = TICK_PIXELS * this.secondsPerPixel;
    const step = STEPS.find((each) => each >= least);
    if (step === undefined) return {upper: this._months(12, YEARS), lower: this._monthTicks(least)};
    if (step >= DAY) return {upper: this._months(1, MONTHS), lower: this._days(step)};
    return {upper: this._named(this._moments(DAY), DAYS), lower: this._hours(step)};
  }

  _hours(step) {
    return this._moments(step).map((at) => ({
      moment: at, strong: wall(at) % DAY === 0, label: timeOfDay(at)}));
  }

  _days(step) {
    return this._named(this._moments(step), SHORT_DAYS).map((tick) => ({
      ...tick, strong: wallText(tick.moment).slice(8, 10) === '01'}));
  }

  _monthTicks(least) {
    const months = MONTH_STEPS.find((each) => each * 30 * DAY >= least) ?? MONTH_STEPS.at(-1);
    return this._months(months, SHORT_MONTHS).map((tick) => ({
      ...tick, strong: wallText(tick.moment).slice(5, 7) === '01'}));
  }

  _named(moments, format) {
    return moments.map((moment) => ({moment, label: format.format(wall(moment) * 1000)}));
  }

  /** Return the moments in sight at which a wall clock shows whole steps, in order. */
  _moments(step) {
    // Weeks begin on Mondays; 1970 began on a Thursday.
    const shift = step % (7 * DAY) === 0 ? 4 * DAY : 0;
    const first = Math.floor((wall(this.start) - shift) / step) * step + shift;
    const found = [];
    if (step <= HOUR) {
      // A clock that is put back or forward by hours goes on in whole steps.
      for (let at = atWall(first); at < this.end; at += step) found.push(at);
      return found;
    }
    for (let shown = first; ; shown += step) {
      const at = atWall(shown);
      if (at >= this.end) return found;
      if (at > (found.at(-1) ?? -Infinity)) found.push(at);
    }
  }

  /** Return the first days of every so many months in sight. */
  _months(months, format) {
    const first = new Date(wall(this.start) * 1000);
    const found = [];
    for (let place = 0; ; place += months) {
      const month = Math.floor(first.getUTCMonth() / months) * months + place;
      const at = atWall(Date.UTC(first.getUTCFullYear(), month) / 1000);
      if (at >= this.end) return this._named(found, format);
      found.push(at);
    }
  }
}

/** Return a format of walls, which are moments as if the zone were UTC. */
function formatOf(options) {
  return new Intl.DateTimeFormat('en-GB', {timeZone: 'UTC', ...options});
}
