// What part of a map is seen: a place in the middle of the canvas and a scale.

const [LEAST, MOST] = [0.02, 12];

export class Camera {
  constructor() {
    [this.x, this.y, this.scale] = [0, 0, 1];
    [this.width, this.height] = [1, 1];
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
  }

  // From a place of the map to one on the canvas, and back.
  across(x) {
    return (x - this.x) * this.scale + this.width / 2;
  }

  down(y) {
    return (y - this.y) * this.scale + this.height / 2;
  }

  under(across, down) {
    return [(across - this.width / 2) / this.scale + this.x, (down - this.height / 2) / this.scale + this.y];
  }

  pan(across, down) {
    this.x -= across / this.scale;
    this.y -= down / this.scale;
  }

  // Nearer by `factor`, with what is at that place of the canvas staying there.
  zoom(factor, across = this.width / 2, down = this.height / 2) {
    const [x, y] = this.under(across, down);
    this.scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    const [nowX, nowY] = this.under(across, down);
    this.x += x - nowX;
    this.y += y - nowY;
  }

  // All nodes for which `there` holds; `pad` are pixels left free around.
  fit(positions, radii, there, pad) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let n = 0; n < radii.length; n += 1) {
      if (!there(n)) continue;
      left = Math.min(left, positions[2 * n] - radii[n]);
      right = Math.max(right, positions[2 * n] + radii[n]);
      top = Math.min(top, positions[2 * n + 1] - radii[n]);
      bottom = Math.max(bottom, positions[2 * n + 1] + radii[n]);
    }
    if (left > right) return;
    const room = [this.width - pad.left - pad.right, this.height - pad.top - pad.bottom];
    this.scale = Math.min(2.2, Math.max(LEAST, Math.min(room[0] / Math.max(1, right - left), room[1] / Math.max(1, bottom - top))));
    this.x = (left + right) / 2 + (pad.right - pad.left) / 2 / this.scale;
    this.y = (top + bottom) / 2 + (pad.bottom - pad.top) / 2 / this.scale;
  }
}
