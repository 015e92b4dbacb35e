// SPDX-License-Identifier: Apache-2.0
// A timeline that can be moved, zoomed and walked through by mouse, finger and keyboard.

import {t} from '../texts.js';
import {DAY, HOUR, atWall, duration, now, wall, words} from '../times.js';
import {HEAD, ROW, Painter, barWord, rowWord} from './painter.js';
import {Scale} from './scale.js';

const WIDE_LABELS = 170;
const NARROW_LABELS = 84;
const NARROW_PAGE = 640;
const LEAST_ROWS = 8;
const CLICK_PIXELS = 4;
// How near to its end a bar is taken by its end.
const EDGE_PIXELS = 6;
const ZOOM = 1.25;
// What a drag for a new lease snaps to, by how long a pixel is.
const SNAPS = [60, 300, 900, HOUR, 6 * HOUR, DAY];

export class View {
  /**
   * @param {HTMLCanvasElement} canvas - focusable.
   * @param {object} listeners - onSight(scale), onOpen(bar), onNew({start, end, lanes}),
   *   onMoveEnd(bar, moment), onSay(text).
   */
  constructor(canvas, listeners) {
    this.canvas = canvas;
    this.listeners = listeners;
    this.painter = new Painter(canvas);
    this.rows = [];
    this.scroll = 0;
    this.focus = null;
    this.focusRow = -1;
    this.hover = null;
    this.drag = null;
    this.makes = false;
    this.pointers = new Map();
    this.scale = new Scale(now() - 6 * HOUR, 7 * DAY, 1);
    this._fit();
    this._listen();
  }

  /** Show rows; what has the focus keeps it if it is still there. */
  setRows(rows) {
    const held = this.focus;
    this.rows = rows;
    this.hover = null;
    this.focus = null;
    if (held) {
      const row = rows.findIndex((each) => each.lane?.resource.id === held.lane.resource.id);
      const lane = rows[row]?.lane;
      const place = lane?.starts.findIndex(
        (start, index) => start === held.start && lane.leases[index]?.id === held.lease?.id);
      if (place >= 0) [this.focus, this.focusRow] = [lane.bar(place), row];
    }
    // A pool of few resources leaves room for what is below the picture.
    this.canvas.style.maxHeight = `${HEAD + ROW * (Math.max(rows.length, LEAST_ROWS) + 1)}px`;
    this._clampScroll();
    this.redraw();
  }

  /** Show the time between two moments. */
  lookAt(start, span) { this._setScale(new Scale(start, span, this.scale.width)); }

  /** Show later moments, by pixels; earlier ones if negative. */
  pan(pixels) { this._setScale(this.scale.moved(pixels)); }

  zoom(factor) { this._setScale(this.scale.zoomed(factor)); }

  /** Draw before the next frame, once. */
  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.painter.draw({...this, now: now()});
    });
  }

  _setScale(scale) {
    this.scale = scale;
    this.listeners.onSight(scale);
    this.redraw();
  }

  _fit() {
    const labels = window.innerWidth < NARROW_PAGE ? NARROW_LABELS : WIDE_LABELS;
    this._setScale(this.scale.resized(this.painter.fit(labels)));
    this._clampScroll();
  }

  _clampScroll() {
    const most = this.rows.length * ROW - (this.painter.height - HEAD);
    this.scroll = Math.max(0, Math.min(this.scroll, most));
  }

  _listen() {
    new ResizeObserver(() => this._fit()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.painter.readColours();
      this.redraw();
    });
    const on = (name, handler, options) => this.canvas.addEventListener(name, handler, options);
    on('wheel', (event) => this._wheel(event), {passive: false});
    on('pointerdown', (event) => this._down(event));
    on('pointermove', (event) => this._move(event));
    on('pointerup', (event) => this._up(event));
    on('pointercancel', (event) => this._forget(event));
    on('pointerleave', () => this._hoverOver(null));
    on('keydown', (event) => this._key(event));
    on('focus', () => this._say(t('timeline.help')));
    // "Now" moves.
    setInterval(() => this.redraw(), 10000);
  }

  _point(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - this.painter.labels;
    const y = event.clientY - box.top;
    const row = Math.floor((y - HEAD + this.scroll) / ROW);
    return {x, y, row, moment: this.scale.moment(x)};
  }

  /** Whether a point is at the end of a bar that the user may prolong. */
  _isAtEnd(bar, {moment}) {
    const far = Math.abs((bar?.end ?? 0) - moment) / this.scale.secondsPerPixel;
    return Boolean(bar?.lease) && bar.kind === 'own' && far <= EDGE_PIXELS && bar.end > now();
  }

  _barAt({x, y, row, moment}) {
    const lane = this.rows[row]?.lane;
    if (!lane || x < 0 || y < HEAD) return null;
    const inside = (y - HEAD + this.scroll) % ROW;
    const track = Math.min(lane.trackCount - 1, Math.floor(inside / (ROW / lane.trackCount)));
    // A bar that is thinner than a finger can be hit beside it, too.
    const near = 2 * this.scale.secondsPerPixel;
    return lane.at(moment, track) ?? lane.at(moment + near, track) ?? lane.at(moment - near, track);
  }

  _wheel(event) {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      const {x} = this._point(event);
      this._setScale(this.scale.zoomed(ZOOM ** (-event.deltaY / 100), x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this._setScale(this.scale.moved(event.deltaX || event.deltaY));
    } else {
      this.scroll += event.deltaY;
      this._clampScroll();
      this.redraw();
    }
  }

  _down(event) {
    if (event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const point = this._point(event);
    this.pointers.set(event.pointerId, {...point, movedBy: 0});
    const bar = this._barAt(point);
    if (this._isAtEnd(bar, point)) {
      this.drag = {bar, row: point.row, lastRow: point.row, start: bar.start, end: bar.end};
    } else if ((this.makes || event.shiftKey) && this.rows[point.row]?.lane) {
      const at = this._snapped(point.moment);
      this.drag = {row: point.row, lastRow: point.row, start: at, end: at};
    }
  }

  _move(event) {
    const point = this._point(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const bar = this._barAt(point);
      this._hoverOver(bar);
      this.canvas.classList.toggle('at-end', this._isAtEnd(bar, point));
      return;
    }
    const [right, down] = [point.x - before.x, point.y - before.y];
    if (this.pointers.size === 2) this._pinch(event.pointerId, before, point);
    else if (this.drag) this._stretch(point);
    else {
      this.scroll -= down;
      this._clampScroll();
      this._setScale(this.scale.moved(-right));
    }
    const movedBy = before.movedBy + Math.abs(right) + Math.abs(down);
    this.pointers.set(event.pointerId, {...point, movedBy});
  }

  _pinch(id, before, point) {
    const other = [...this.pointers].find(([each]) => each !== id)[1];
    const factor = Math.max(20, Math.abs(point.x - other.x))
      / Math.max(20, Math.abs(before.x - other.x));
    this._setScale(this.scale.zoomed(factor, (point.x + other.x) / 2));
  }

  _stretch(point) {
    this.drag.end = this._snapped(point.moment);
    if (this.rows[point.row]?.lane && !this.drag.bar) this.drag.lastRow = point.row;
    this.redraw();
    const [start, end] = [this.drag.start, this.drag.end].sort((one, other) => one - other);
    this._say(`${words(start)} – ${words(end)} (${duration(end - start)})`);
  }

  _up(event) {
    const before = this.pointers.get(event.pointerId);
    this._forget(event);
    if (!before) return;
    if (this.drag) this._finishDrag();
    else if (before.movedBy < CLICK_PIXELS) {
      const bar = this._barAt(this._point(event));
      if (bar) this._open(bar);
    }
  }

  _forget(event) {
    this.pointers.delete(event.pointerId);
    if (event.type === 'pointercancel') this.drag = null;
  }

  _finishDrag() {
    const {bar, row, lastRow, end: moment} = this.drag;
    const [start, end] = [this.drag.start, this.drag.end].sort((one, other) => one - other);
    this.drag = null;
    this.redraw();
    if (bar) {
      if (moment !== bar.end) this.listeners.onMoveEnd(bar, moment);
      return;
    }
    if (start === end) return;
    const lanes = this.rows.slice(Math.min(row, lastRow), Math.max(row, lastRow) + 1)
      .flatMap((each) => each.lane ?? []);
    this.listeners.onNew({start, end, lanes});
  }

  _snapped(moment) {
    const snap = SNAPS.find((each) => each >= 4 * this.scale.secondsPerPixel) ?? DAY;
    return atWall(Math.round(wall(moment) / snap) * snap);
  }

  _hoverOver(bar) {
    if (bar?.index === this.hover?.index && bar?.lane === this.hover?.lane) return;
    this.hover = bar;
    this.canvas.classList.toggle('over', bar !== null);
    this._say(bar ? barSentence(bar) : '');
    this.redraw();
  }

  _open(bar) { this.listeners.onOpen(bar); }

  _key(event) {
    const step = this.scale.width / 8;
    const actions = {
      ArrowLeft: () => this._walk(-1), ArrowRight: () => this._walk(1),
      ArrowUp: () => this._climb(-1), ArrowDown: () => this._climb(1),
      PageUp: () => this._setScale(this.scale.moved(-4 * step)),
      PageDown: () => this._setScale(this.scale.moved(4 * step)),
      '+': () => this.zoom(ZOOM), '=': () => this.zoom(ZOOM), '-': () => this.zoom(1 / ZOOM),
      Home: () => this.lookAt(now() - this.scale.span / 8, this.scale.span),
      Enter: () => this.focus && this._open(this.focus),
      n: () => this._makeHere(),
      Escape: () => { this.focus = null; this.drag = null; this.redraw(); },
    };
    if (event.altKey || event.ctrlKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Move the focus to the next bar of the lane, in time. */
  _walk(direction) {
    if (!this.rows[this.focusRow]?.lane) { this._climb(1); return; }
    const {lane} = this.rows[this.focusRow];
    const from = this.focus ? this.focus.index + direction
      : lane.firstAfter(this.scale.start) - (direction < 0 ? 1 : 0);
    if (from < 0 || from >= lane.starts.length) { this._say(t('timeline.no_more')); return; }
    this._focusOn(lane.bar(from));
  }

  /** Move the focus to another lane. */
  _climb(direction) {
    let row = this.focusRow;
    do row += direction; while (this.rows[row] && !this.rows[row].lane);
    if (!this.rows[row]) { this._say(t('timeline.no_more')); return; }
    this.focusRow = row;
    const {lane} = this.rows[row];
    const top = row * ROW;
    const room = this.painter.height - HEAD;
    this.scroll = Math.max(Math.min(this.scroll, top), top + ROW - room);
    this._clampScroll();
    const index = lane.firstAfter(this.scale.start);
    if (index < lane.starts.length && lane.starts[index] < this.scale.end) {
      this._focusOn(lane.bar(index));
    } else {
      this.focus = null;
      this._say(t('timeline.lane_free', {resource: rowWord(lane.resource)}));
      this.redraw();
    }
  }

  _focusOn(bar) {
    this.focus = bar;
    if (bar.end < this.scale.start || bar.start > this.scale.end) {
      this.lookAt(bar.start - this.scale.span / 4, this.scale.span);
    }
    this._say(barSentence(bar));
    this.redraw();
  }

  /** Begin a lease on the lane with the focus, after the bar with the focus or now. */
  _makeHere() {
    const lane = this.rows[this.focusRow]?.lane;
    const start = this._snapped(this.focus?.end ?? now());
    this.listeners.onNew({start, end: start + Math.max(HOUR, this._snapped(this.scale.span / 8)),
      lanes: lane ? [lane] : []});
  }

  _say(text) { this.listeners.onSay(text); }
}

/** Say in a sentence what a bar is. */
function barSentence(bar) {
  const status = bar.status ? `, ${t(`status.${bar.status}`)}` : '';
  return `${rowWord(bar.lane.resource)}: ${barWord(bar.kind, bar.lease)}${status}, `
    + `${words(bar.start)} – ${words(bar.end)} (${duration(bar.end - bar.start)})`;
}
