// SPDX-License-Identifier: Apache-2.0
// The keyboard on a timeline: a bar has the focus, and a sentence says what it is.

import {t} from '../texts.js';
import {now} from '../times.js';
import {HEAD, ROW} from './layout.js';
import {barSentence, rowWord} from './words.js';

const ZOOM = 1.25;

export class Keys {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    view.canvas.addEventListener('keydown', (event) => this._key(event));
  }

  _key(event) {
    const {view} = this;
    const {span, width} = view.scale;
    const actions = {
      ArrowLeft: () => this._walk(-1), ArrowRight: () => this._walk(1),
      ArrowUp: () => this._climb(-1), ArrowDown: () => this._climb(1),
      PageUp: () => view.pan(-width / 2), PageDown: () => view.pan(width / 2),
      '+': () => view.zoom(ZOOM), '=': () => view.zoom(ZOOM), '-': () => view.zoom(1 / ZOOM),
      Home: () => view.lookAt(now() - span / 8, span),
      Enter: () => view.focus && view.open(view.focus),
      n: () => this._makeHere(),
      Escape: () => { view.focus = null; view.drag = null; view.redraw(); },
    };
    if (event.altKey || event.ctrlKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Move the focus to the next bar or absence of the lane, in time. */
  _walk(direction) {
    const {view} = this;
    const lane = view.rows[view.focusRow]?.lane;
    if (!lane) { this._climb(1); return; }
    const stops = stopsOf(lane);
    const place = view.focus ? stops.findIndex(({start, index}) => (
      start === view.focus.start && index === view.focus.index)) + direction
      : firstInSight(stops, view.scale) - (direction < 0 ? 1 : 0);
    if (place < 0 || place >= stops.length) { view.say(t('timeline.no_more')); return; }
    this._focusOn(stops[place].bar());
  }

  /** Move the focus to another lane. */
  _climb(direction) {
    const {view} = this;
    let row = view.focusRow;
    do row += direction; while (view.rows[row] && !view.rows[row].lane);
    if (!view.rows[row]) { view.say(t('timeline.no_more')); return; }
    view.focusRow = row;
    const {lane} = view.rows[row];
    const top = row * ROW;
    const room = view.painter.height - HEAD;
    view.scroll = Math.max(Math.min(view.scroll, top), top + ROW - room);
    const stops = stopsOf(lane);
    const stop = stops[firstInSight(stops, view.scale)];
    if (stop && stop.start < view.scale.end) this._focusOn(stop.bar());
    else {
      view.focus = null;
      view.say(t('timeline.lane_free', {resource: rowWord(lane.resource)}));
      view.redraw();
    }
  }

  _focusOn(bar) {
    const {view} = this;
    view.focus = bar;
    if (bar.end < view.scale.start || bar.start > view.scale.end) {
      view.lookAt(bar.start - view.scale.span / 4, view.scale.span);
    }
    view.say(barSentence(bar));
    view.redraw();
  }

  /** Begin a lease on the lane with the focus, after the bar with the focus or now. */
  _makeHere() {
    const {view} = this;
    const lane = view.rows[view.focusRow]?.lane;
    const start = view.snapped(view.focus?.end ?? now());
    view.listeners.onNew({start, end: start + view.snappedLength(view.scale.span / 8),
      lanes: lane ? [lane] : []});
  }
}

/** Return the bars and the absences of a lane in the order of their starts. */
function stopsOf(lane) {
  const stops = Array.from(lane.starts, (start, index) => ({
    start, end: lane.ends[index], index, bar: () => lane.bar(index)}));
  for (const absence of lane.absences) stops.push({...absence, bar: () => absence});
  return stops.sort((one, other) => one.start - other.start);
}

/** Return the place of the first stop that reaches into a scale. */
function firstInSight(stops, scale) {
  const place = stops.findIndex(({end}) => end > scale.start);
  return place === -1 ? stops.length : place;
}
