// SPDX-License-Identifier: Apache-2.0
// A timeline that can be moved, zoomed and walked through by mouse, finger and keyboard.

import {t} from '../texts.js';
import {DAY, HOUR, atWall, now, wall} from '../times.js';
import {Keys} from './keys.js';
import {HEAD, ROW, trackHeight} from './layout.js';
import {Painter} from './painter.js';
import {Pointers} from './pointers.js';
import {Scale} from './scale.js';
import {barSentence} from './words.js';

const LEAST_ROWS = 8;
// What a drag for a new lease snaps to, by how long a pixel is.
const SNAPS = [60, 300, 900, HOUR, 6 * HOUR, DAY];
const NOW_MS = 10000;

export class View {
  /**
   * @param {HTMLCanvasElement} canvas - focusable, sticky in an element as high as all rows, which
   *   is in an element that scrolls. The browser scrolls the rows, and the page beyond them.
   * @param {object} listeners - onSight(scale), onOpen(bar), onNew({start, end, lanes}),
   *   onMoveEnd(bar, moment), onHover(bar, event), onSay(text).
   */
  constructor(canvas, listeners) {
    this.canvas = canvas;
    this.inner = canvas.parentElement;
    this.frame = this.inner.parentElement;
    this.listeners = listeners;
    this.painter = new Painter(canvas);
    this.rows = [];
    this.focus = null;
    this.focusRow = -1;
    this.hover = null;
    this.drag = null;
    this.scale = new Scale(now() - 6 * HOUR, 7 * DAY, 1);
    this.pointers = new Pointers(this);
    this.keys = new Keys(this);
    this._fit();
    this._listen();
  }

  get scroll() { return this.frame.scrollTop; }

  set scroll(pixels) { this.frame.scrollTop = pixels; }

  /** Whether a drag over free time begins a new lease. */
  get makes() { return this.canvas.classList.contains('makes'); }

  set makes(wanted) { this.canvas.classList.toggle('makes', wanted); }

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
    this.frame.style.maxHeight = `${HEAD + ROW * Math.max(rows.length, LEAST_ROWS) + 2}px`;
    this.inner.style.height = `${HEAD + ROW * rows.length}px`;
    this._fit();
  }

  /** Show the time between two moments. */
  lookAt(start, span) { this.setScale(new Scale(start, span, this.scale.width)); }

  /** Show later moments, by pixels; earlier ones if negative. */
  pan(pixels) { this.setScale(this.scale.moved(pixels)); }

  zoom(factor, x) { this.setScale(this.scale.zoomed(factor, x)); }

  /** Draw before the next frame, once. */
  redraw() {
    this.nextFrame ??= requestAnimationFrame(() => {
      this.nextFrame = undefined;
      this.draw();
    });
  }

  /** Draw at once. */
  draw() {
    const {scale, rows, scroll, focus, focusRow, hover, drag} = this;
    this.painter.draw({scale, rows, scroll, focus, focusRow, hover, drag, now: now()});
  }

  setScale(scale) {
    this.scale = scale;
    this.listeners.onSight(scale);
    this.redraw();
  }

  /** Read the colours again: they, or the model, have changed. */
  readColours() {
    this.painter.readColours();
    this.redraw();
  }

  _fit() {
    this.canvas.style.height = `${this.frame.clientHeight}px`;
    const width = this.painter.fit(this.rows);
    if (width === this.scale.width) this.redraw();
    else this.setScale(this.scale.resized(width));
  }

  _listen() {
    new ResizeObserver(() => this._fit()).observe(this.frame);
    this.frame.addEventListener('scroll', () => this.redraw());
    this.canvas.addEventListener('focus', () => this.say(t('timeline.help')));
    // "Now" moves.
    setInterval(() => this.redraw(), NOW_MS);
  }

  /** Return where a pointer is: x, y, the row and the moment. */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - this.painter.labels;
    const y = event.clientY - box.top;
    const row = Math.floor((y - HEAD + this.scroll) / ROW);
    return {x, y, row, moment: this.scale.moment(x)};
  }

  barAt({x, y, row, moment}) {
    const lane = this.rows[row]?.lane;
    if (!lane || x < 0 || y < HEAD) return null;
    const inside = (y - HEAD + this.scroll) % ROW;
    const track = Math.min(lane.trackCount - 1, Math.floor(inside / trackHeight(lane)));
    // A bar that is thinner than a finger can be hit beside it, too.
    const near = 2 * this.scale.secondsPerPixel;
    return lane.at(moment, track) ?? lane.at(moment + near, track) ?? lane.at(moment - near, track)
      ?? lane.absenceAt(moment);
  }

  /** Return the moment near another one that a new lease may begin or end at. */
  snapped(moment) {
    const snap = this._snap();
    return atWall(Math.round(wall(moment) / snap) * snap);
  }

  /** Return a length near another one that a new lease may have. */
  snappedLength(length) {
    const snap = this._snap();
    return Math.max(snap, Math.round(length / snap) * snap);
  }

  _snap() { return SNAPS.find((each) => each >= 4 * this.scale.secondsPerPixel) ?? DAY; }

  /** Show which bar is under the pointer; null: none. */
  hoverOver(bar, event) {
    this.listeners.onHover(bar, event);
    if (bar?.index === this.hover?.index && bar?.lane === this.hover?.lane) return;
    this.hover = bar;
    this.canvas.classList.toggle('over', bar !== null && bar.index >= 0);
    this.say(bar ? barSentence(bar) : '');
    this.redraw();
  }

  open(bar) { this.listeners.onOpen(bar); }

  say(text) { this.listeners.onSay(text); }
}
