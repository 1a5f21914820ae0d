// Far nodes taken together (Barnes and Hut): repulsion of n nodes in n log n.

const OPENING = 0.81; // square of how wide a cell may look to be taken as one
const DEEPEST = 40;
const NEAREST = 4;

export class Quadtree {
  constructor(count) {
    const most = 8 * count + 64;
    this.child = new Int32Array(4 * most); // 0: none; n + 1 > 0: cell n; -(n + 1) < 0: node n
    this.mass = new Float64Array(most);
    this.x = new Float64Array(most);
    this.y = new Float64Array(most);
    this.next = new Int32Array(count); // nodes at the same place, in a chain; -1 ends it
    this.stack = new Int32Array(256);
    this.widths = new Float64Array(256);
  }

  build(x, y, weights) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let n = 0; n < x.length; n += 1) {
      left = Math.min(left, x[n]);
      right = Math.max(right, x[n]);
      top = Math.min(top, y[n]);
      bottom = Math.max(bottom, y[n]);
    }
    this.width = Math.max(right - left, bottom - top, 1) * 1.001;
    [this.left, this.top] = [left, top];
    this.used = 0;
    this.cell();
    this.weights = weights;
    for (let n = 0; n < x.length; n += 1) this.insert(n, x, y);
    this.weigh(0, x, y);
  }

  cell() {
    const made = this.used;
    this.used += 1;
    this.child.fill(0, 4 * made, 4 * made + 4);
    return made;
  }

  insert(node, x, y) {
    let [at, left, top, half] = [0, this.left, this.top, this.width / 2];
    this.next[node] = -1;
    for (let depth = 0; ; depth += 1) {
      const [right, low] = [x[node] >= left + half, y[node] >= top + half];
      const place = 4 * at + (right ? 1 : 0) + (low ? 2 : 0);
      const held = this.child[place];
      if (held === 0) {
        this.child[place] = -(node + 1);
        return;
      }
      if (right) left += half;
      if (low) top += half;
      half /= 2;
      if (held < 0) {
        const other = -held - 1;
        if (depth >= DEEPEST || this.used + 1 >= this.mass.length) {
          this.next[node] = other;
          this.child[place] = -(node + 1);
          return;
        }
        const made = this.cell();
        const quarter = (x[other] >= left + half ? 1 : 0) + (y[other] >= top + half ? 2 : 0);
        this.child[4 * made + quarter] = held;
        this.child[place] = made + 1;
        at = made;
      } else at = held - 1;
    }
  }

  // Mass and middle of every cell: children come after their parents, so from the last to the first.
  weigh(root, x, y) {
    for (let cell = this.used - 1; cell >= root; cell -= 1) {
      let [mass, across, down] = [0, 0, 0];
      for (let quarter = 0; quarter < 4; quarter += 1) {
        const held = this.child[4 * cell + quarter];
        if (held > 0) {
          mass += this.mass[held - 1];
          across += this.x[held - 1] * this.mass[held - 1];
          down += this.y[held - 1] * this.mass[held - 1];
        }
        for (let node = held < 0 ? -held - 1 : -1; node >= 0; node = this.next[node]) {
          mass += this.weights[node];
          across += x[node] * this.weights[node];
          down += y[node] * this.weights[node];
        }
      }
      this.mass[cell] = mass;
      this.x[cell] = across / mass;
      this.y[cell] = down / mass;
    }
  }

  // Adds to the speed of a node what all the others push it away.
  repel(node, x, y, dx, dy, strength) {
    const { stack, widths } = this;
    let [top, pushX, pushY] = [1, 0, 0];
    stack[0] = 0;
    widths[0] = this.width;
    const push = (otherX, otherY, mass) => {
      const [across, down] = [x[node] - otherX, y[node] - otherY];
      const square = Math.max(across * across + down * down, NEAREST);
      pushX += (across * mass) / square;
      pushY += (down * mass) / square;
    };
    while (top > 0) {
      top -= 1;
      const [cell, width] = [stack[top], widths[top]];
      const [across, down] = [x[node] - this.x[cell], y[node] - this.y[cell]];
      if (width * width < OPENING * (across * across + down * down)) {
        push(this.x[cell], this.y[cell], this.mass[cell]);
        continue;
      }
      for (let quarter = 0; quarter < 4; quarter += 1) {
        const held = this.child[4 * cell + quarter];
        if (held > 0) {
          stack[top] = held - 1;
          widths[top] = width / 2;
          top += 1;
        }
        for (let other = held < 0 ? -held - 1 : -1; other >= 0; other = this.next[other]) {
          if (other !== node) push(x[other], y[other], this.weights[other]);
        }
      }
    }
    dx[node] += (pushX * strength) / 12;
    dy[node] += (pushY * strength) / 12;
  }
}
