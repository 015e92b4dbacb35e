// SPDX-License-Identifier: Apache-2.0
// Bars as lines of pixels. One line of pixels has all bars of a track, and is stretched to their
// height, so that a frame costs as much as the picture has pixels, however many bars there are.

// How visible the shortest bar is.
const LEAST_ALPHA = 64;
const OPAQUE = 255;

/** Lines of pixels in two colours for each track: that of the bars and that of their edges. */
export class Strips {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d', {willReadFrequently: true});
  }

  /** Begin a frame of some tracks that are `width` device pixels wide. */
  begin(width, tracks) {
    const height = 2 * tracks;
    if (this.canvas.width !== width || this.canvas.height < height) {
      this.canvas.width = width;
      this.canvas.height = Math.max(height, this.canvas.height);
      this.image = this.context.createImageData(width, this.canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.width = width;
    this.height = height;
    this.pixels.fill(0, 0, width * height);
  }

  /**
   * Add a bar between two places, in device pixels. A pixel that bars cover in part is as opaque as
   * the part that they cover.
   *
   * @param {number} colour - a pixel without its alpha.
   * @param {number} edge - that of the edge.
   */
  add(track, from, to, colour, edge) {
    const left = from < 0 ? 0 : from;
    const right = to > this.width ? this.width : to;
    if (right <= left) return;
    const {pixels, width} = this;
    const base = 2 * track * width;
    const first = Math.floor(left);
    const last = Math.floor(right);
    if (first === last) {
      this._cover(base + first, right - left, colour, edge);
      return;
    }
    const full = Math.ceil(left);
    if (full > left) this._cover(base + first, full - left, colour, edge);
    for (let place = base + full; place < base + last; place += 1) {
      pixels[place] = colour | OPAQUE << 24;
      pixels[place + width] = edge | OPAQUE << 24;
    }
    if (right > last) this._cover(base + last, right - last, colour, edge);
  }

  _cover(place, share, colour, edge) {
    const before = this.pixels[place] >>> 24;
    const sum = (before > LEAST_ALPHA ? before : LEAST_ALPHA) + share * (OPAQUE - LEAST_ALPHA);
    const alpha = (sum > OPAQUE ? OPAQUE : sum) << 24;
    this.pixels[place] = colour | alpha;
    this.pixels[place + this.width] = edge | alpha;
  }

  /** End a frame: its lines may be drawn now. */
  end() { this.context.putImageData(this.image, 0, 0, 0, 0, this.width, this.height); }

  /** Draw the line of a track at its height, with an edge of some pixels below it. */
  draw(context, track, {x, y, width, height, edge = 0}) {
    context.drawImage(this.canvas, 0, 2 * track, this.width, 1, x, y, width, height);
    if (edge) {
      context.drawImage(this.canvas, 0, 2 * track + 1, this.width, 1, x, y + height, width, edge);
    }
  }
}
