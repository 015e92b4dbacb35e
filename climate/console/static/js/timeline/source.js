// SPDX-License-Identifier: Apache-2.0
// Gets the timeline that is in sight, a little more on each side, and notices when it changes.

import {call} from '../rest.js';
import {DAY, iso} from '../times.js';
import {Model} from './model.js';

const LOOK_MS = 2500;
const WAIT_MS = 120;
// How much is asked for on each side of what is in sight, in its span.
const BESIDE = 1;
// climate-api answers at most so much at once.
const LONGEST = 1095 * DAY;

export class Source {
  /**
   * @param {function(Model)} onModel - called with each new model.
   * @param {function(?Problem)} onProblem - called when a request fails, and with null when one
   *   succeeds again.
   */
  constructor(onModel, onProblem) {
    this.onModel = onModel;
    this.onProblem = onProblem;
    this.query = null;
    this.etag = null;
    this.aborter = null;
    this.timer = null;
    document.addEventListener('visibilitychange', () => this._again(0));
  }

  /**
   * Say what is in sight. It is asked for if it is not known, or not finely enough.
   *
   * @param {Scale} scale - the scale of the picture.
   * @param {object} filter - pool, criteria.
   */
  show(scale, filter) {
    const known = this.query;
    const fine = Math.floor(scale.secondsPerPixel);
    const enough = known && known.pool === filter.pool && known.criteria === filter.criteria
      && known.from <= scale.start && known.to >= scale.end
      && known.resolution <= fine && (known.to - known.from) <= scale.span * (2 * BESIDE + 1) * 3;
    if (enough) return;
    const beside = Math.min(scale.span * BESIDE, (LONGEST - scale.span) / 2);
    this.query = {...filter, from: scale.start - beside, to: scale.end + beside, resolution: fine};
    this.etag = null;
    this.aborter?.abort();
    this._again(WAIT_MS);
  }

  /** Look for changes at once. */
  refresh() { this._again(0); }

  _again(pauseMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this._look(), pauseMs);
  }

  async _look() {
    if (this.query === null || document.hidden) return;
    const {pool, criteria, from, to, resolution} = this.query;
    // A late answer must not replace a newer one.
    this.aborter?.abort();
    const aborter = this.aborter = new AbortController();
    try {
      const answer = await call('/timeline', {
        query: {pool, criteria, start: iso(from), end: iso(to), resolution},
        headers: this.etag ? {'If-None-Match': this.etag} : {}, signal: aborter.signal});
      if (aborter.signal.aborted) return;
      if (answer.body) {
        this.etag = answer.etag;
        this.onModel(new Model(answer.body.timeline));
      }
      this.onProblem(null);
    } catch (error) {
      if (aborter.signal.aborted) return;
      this.onProblem(error);
    }
    this._again(LOOK_MS);
  }
}
