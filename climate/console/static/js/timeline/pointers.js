// SPDX-License-Identifier: Apache-2.0
// Mouse and fingers on a timeline. The browser scrolls the rows by itself.

import {duration, now, words} from '../times.js';

const CLICK_PIXELS = 4;
// How near to its end a bar is taken by its end.
const EDGE_PIXELS = 6;
const ZOOM = 1.25;
// How far a turn of the wheel by one line or page moves, in pixels.
const DELTAS = [1, 16, 400];

export class Pointers {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.down = new Map();
    const on = (name, handler, options) => view.canvas.addEventListener(name, handler, options);
    on('wheel', (event) => this._wheel(event), {passive: false});
    on('pointerdown', (event) => this._down(event));
    on('pointermove', (event) => this._move(event));
    on('pointerup', (event) => this._up(event));
    on('pointercancel', (event) => this._forget(event));
    on('pointerleave', (event) => view.hoverOver(null, event));
  }

  /** Zoom, or move in time. What is left scrolls the rows, and then the page. */
  _wheel(event) {
    const {view} = this;
    const unit = DELTAS[event.deltaMode];
    if (event.ctrlKey || event.metaKey) {
      view.zoom(ZOOM ** (-event.deltaY * unit / 100), view.point(event).x);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan((event.deltaX || event.deltaY) * unit);
    } else return;
    event.preventDefault();
  }

  /** Whether a point is at the end of a bar that the user may prolong. */
  _isAtEnd(bar, {moment}) {
    const far = Math.abs((bar?.end ?? 0) - moment) / this.view.scale.secondsPerPixel;
    return Boolean(bar?.lease) && bar.kind === 'own' && far <= EDGE_PIXELS && bar.end > now();
  }

  _down(event) {
    if (event.button > 0) return;
    const {view} = this;
    view.canvas.setPointerCapture(event.pointerId);
    const point = view.point(event);
    this.down.set(event.pointerId, {...point, clientY: event.clientY, movedBy: 0});
    const bar = view.barAt(point);
    if (this._isAtEnd(bar, point)) {
      view.drag = {bar, row: point.row, lastRow: point.row, start: bar.start, end: bar.end};
    } else if ((view.makes || event.shiftKey) && view.rows[point.row]?.lane) {
      const at = view.snapped(point.moment);
      view.drag = {row: point.row, lastRow: point.row, start: at, end: at};
    }
  }

  _move(event) {
    const {view} = this;
    const point = view.point(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      const bar = view.barAt(point);
      view.hoverOver(bar, event);
      view.canvas.classList.toggle('at-end', this._isAtEnd(bar, point));
      return;
    }
    const [right, down] = [point.x - before.x, event.clientY - before.clientY];
    if (this.down.size === 2) this._pinch(event.pointerId, before, point);
    else if (view.drag) this._stretch(point);
    else {
      if (event.pointerType === 'mouse') view.scroll -= down;
      view.pan(-right);
    }
    const movedBy = before.movedBy + Math.abs(right) + Math.abs(down);
    this.down.set(event.pointerId, {...point, clientY: event.clientY, movedBy});
  }

  _pinch(id, before, point) {
    const other = [...this.down].find(([each]) => each !== id)[1];
    const factor = Math.max(20, Math.abs(point.x - other.x))
      / Math.max(20, Math.abs(before.x - other.x));
    this.view.zoom(factor, (point.x + other.x) / 2);
  }

  _stretch(point) {
    const {view} = this;
    const {drag} = view;
    drag.end = view.snapped(point.moment);
    if (view.rows[point.row]?.lane && !drag.bar) drag.lastRow = point.row;
    view.redraw();
    const [start, end] = ordered(drag);
    view.say(`${words(start)} – ${words(end)} (${duration(end - start)})`);
  }

  _up(event) {
    const {view} = this;
    const before = this.down.get(event.pointerId);
    this._forget(event);
    if (!before) return;
    if (view.drag) this._finishDrag();
    else if (before.movedBy < CLICK_PIXELS) {
      const bar = view.barAt(view.point(event));
      if (bar) view.open(bar);
    }
  }

  _forget(event) {
    this.down.delete(event.pointerId);
    if (event.type === 'pointercancel') this.view.drag = null;
  }

  _finishDrag() {
    const {view} = this;
    const {bar, row, lastRow, end: moment} = view.drag;
    const [start, end] = ordered(view.drag);
    view.drag = null;
    view.redraw();
    if (bar) {
      if (moment !== bar.end) view.listeners.onMoveEnd(bar, moment);
      return;
    }
    if (start === end) return;
    const lanes = view.rows.slice(Math.min(row, lastRow), Math.max(row, lastRow) + 1)
      .flatMap((each) => each.lane ?? []);
    view.listeners.onNew({start, end, lanes});
  }
}

const ordered = ({start, end}) => [Math.min(start, end), Math.max(start, end)];
