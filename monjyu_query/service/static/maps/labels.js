// Words on a map: the heaviest first, each only where it covers no other.

const CELL = 48;
const LINE = 15;
const LONGEST = 44;

export class Labels {
  constructor() {
    this.widths = new Map();
  }

  // Begins a picture so many pixels wide: `pen` measures, `most` words at most.
  begin(pen, most, wide) {
    this.pen = pen;
    this.wide = wide;
    this.left = most;
    this.cells = new Map();
  }

  width(text, font) {
    const key = `${font}\n${text}`;
    if (!this.widths.has(key)) {
      if (this.widths.size > 20_000) this.widths.clear();
      this.pen.font = font;
      this.widths.set(key, this.pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  // Where the middle of the text may stand around a node, or null.
  placed(text, font, x, y, radius, force = false) {
    if (!this.left && !force) return null;
    const half = this.width(text, font) / 2 + 3;
    const middle = Math.abs(this.within(x, half) - x) < half ? this.within(x, half) : x; // a word stays over its node
    const places = [[middle, y + radius + LINE], [middle, y - radius - 5], [x + radius + half + 2, y + 4], [x - radius - half - 2, y + 4]];
    for (const [across, down] of places) {
      if (across !== middle && this.within(across, half) !== across) continue; // beside its node it would be cut off
      const box = [across - half, down - LINE + 2, across + half, down + 5];
      if (!this.take(box, force)) continue;
      this.left -= 1;
      return [across, down];
    }
    return null;
  }

  // The middle of a word so wide that is not cut off by the edge of the picture.
  within(x, half) {
    return Math.min(Math.max(x, half), Math.max(half, this.wide - half));
  }

  // Whether the box was free; then, and where it is forced, it is taken.
  take(box, force = false) {
    const touched = this.touched(box);
    for (const cell of force ? [] : touched) {
      for (const other of this.cells.get(cell) ?? []) {
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
      }
    }
    for (const cell of touched) {
      if (this.cells.has(cell)) this.cells.get(cell).push(box);
      else this.cells.set(cell, [box]);
    }
    return true;
  }

  touched([left, top, right, bottom]) {
    const found = [];
    for (let c = Math.floor(left / CELL); c <= Math.floor(right / CELL); c += 1) {
      for (let r = Math.floor(top / CELL); r <= Math.floor(bottom / CELL); r += 1) found.push(c * 4096 + r);
    }
    return found;
  }
}

export function shortened(text) {
  const clean = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST).replace(/\s+\S*$/, "")} …`;
}
