// Where the nodes of a map lie: they repel each other, edges and communities draw them together, and at last none
// covers another. Nothing is drawn by lot: places come from the ids, so that the same graph gives the same picture.

import { Quadtree } from "./quadtree.js";

const TICKS = 320;
const COOLED = 0.004;
const REPULSION = 42;
const GRAVITY = 0.03;
const FLATTER = 1.9; // screens are wider than high
const TOGETHER = 0.06; // of a community's nodes, towards their middle
const ALIKE = 0.12; // how strong an edge is that only says that two papers are alike
const SETTLING = 0.55; // share of the ticks after which nodes make room for each other
const SLOWED = 0.6;
const GAP = 1.5;

// 32 bits of a text (FNV-1a).
function hashed(text) {
  let value = 2166136261;
  for (let n = 0; n < text.length; n += 1) value = Math.imul(value ^ text.charCodeAt(n), 16777619);
  return value >>> 0;
}

export class Layout {
  // `graph`: ids, communities, sources, targets, alike; `radii` of the nodes.
  constructor(graph, radii) {
    this.count = graph.ids.length;
    this.graph = graph;
    this.radii = radii;
    this.x = new Float64Array(this.count);
    this.y = new Float64Array(this.count);
    this.dx = new Float64Array(this.count);
    this.dy = new Float64Array(this.count);
    this.degree = new Float64Array(this.count);
    this.tree = new Quadtree(this.count);
    this.spacing = Math.min(4, Math.max(1, 24 / Math.sqrt(this.count))); // few nodes have room for their words
    this.alpha = 1;
    this.tick = 0;
    for (let e = 0; e < graph.sources.length; e += 1) {
      this.degree[graph.sources[e]] += 1;
      this.degree[graph.targets[e]] += 1;
    }
    this.place();
  }

  // Communities on a spiral, the largest in the middle; around each its nodes, turned by the hashes of their ids.
  place() {
    const spread = 9 * this.spacing * Math.sqrt(this.count);
    for (let n = 0; n < this.count; n += 1) {
      const group = this.graph.communities[n] + 1;
      const turn = group * 2.39996;
      const out = spread * Math.sqrt(group / 9);
      const bits = hashed(this.graph.ids[n]);
      const angle = ((bits & 0xffff) / 0x10000) * 2 * Math.PI;
      const far = spread * 0.45 * Math.sqrt((bits >>> 16) / 0x10000);
      this.x[n] = out * Math.cos(turn) + far * Math.cos(angle);
      this.y[n] = out * Math.sin(turn) + far * Math.sin(angle);
    }
  }

  get done() {
    return this.tick >= TICKS || this.count < 2;
  }

  step() {
    this.alpha = COOLED ** (this.tick / TICKS);
    this.tree.build(this.x, this.y, this.radii);
    for (let n = 0; n < this.count; n += 1) this.tree.repel(n, this.x, this.y, this.dx, this.dy, REPULSION * this.spacing ** 2 * this.alpha);
    this.pull();
    this.gather();
    for (let n = 0; n < this.count; n += 1) {
      this.dx[n] *= SLOWED;
      this.dy[n] *= SLOWED;
      this.x[n] += this.dx[n];
      this.y[n] += this.dy[n];
    }
    if (this.tick > SETTLING * TICKS) this.makeRoom();
    this.tick += 1;
  }

  pull() {
    const { sources, targets, alike } = this.graph;
    for (let e = 0; e < sources.length; e += 1) {
      const [a, b] = [sources[e], targets[e]];
      const along = this.x[b] + this.dx[b] - this.x[a] - this.dx[a] || 1e-6;
      const down = this.y[b] + this.dy[b] - this.y[a] - this.dy[a] || 1e-6;
      const length = Math.sqrt(along * along + down * down);
      const wanted = 14 * this.spacing + this.radii[a] + this.radii[b];
      const strength = (alike[e] ? ALIKE : 1) / Math.min(this.degree[a], this.degree[b]);
      const force = ((length - wanted) / length) * this.alpha * strength;
      const share = this.degree[a] / (this.degree[a] + this.degree[b]);
      this.dx[b] -= along * force * share;
      this.dy[b] -= down * force * share;
      this.dx[a] += along * force * (1 - share);
      this.dy[a] += down * force * (1 - share);
    }
  }

  gather() {
    const { communities } = this.graph;
    const sums = new Map();
    for (let n = 0; n < this.count; n += 1) {
      const sum = sums.get(communities[n]) ?? [0, 0, 0];
      sums.set(communities[n], [sum[0] + this.x[n], sum[1] + this.y[n], sum[2] + 1]);
    }
    for (let n = 0; n < this.count; n += 1) {
      const sum = sums.get(communities[n]);
      const near = communities[n] < 0 ? 0 : TOGETHER * this.alpha;
      this.dx[n] += (sum[0] / sum[2] - this.x[n]) * near - this.x[n] * GRAVITY * this.alpha;
      this.dy[n] += (sum[1] / sum[2] - this.y[n]) * near - this.y[n] * GRAVITY * FLATTER * this.alpha;
    }
  }

  // Nodes that overlap are moved apart, the smaller one further; each is compared with those of the cells around.
  makeRoom() {
    const widest = 2 * Math.max(...this.radii) + GAP;
    const cells = new Map();
    const name = (column, row) => column * 73856093 + row * 19349663;
    for (let n = 0; n < this.count; n += 1) {
      const [column, row] = [Math.floor(this.x[n] / widest), Math.floor(this.y[n] / widest)];
      for (let c = column - 1; c <= column + 1; c += 1) {
        for (let r = row - 1; r <= row + 1; r += 1) {
          for (const other of cells.get(name(c, r)) ?? []) this.part(n, other);
        }
      }
      const key = name(column, row);
      if (cells.has(key)) cells.get(key).push(n);
      else cells.set(key, [n]);
    }
  }

  part(a, b) {
    const least = this.radii[a] + this.radii[b] + GAP;
    const along = this.x[a] - this.x[b] || (a - b) * 1e-4;
    const down = this.y[a] - this.y[b];
    const square = along * along + down * down;
    if (square >= least * least) return;
    const length = Math.sqrt(square);
    const push = ((least - length) / length) * 0.5;
    const share = this.radii[b] ** 2 / (this.radii[a] ** 2 + this.radii[b] ** 2);
    this.x[a] += along * push * share;
    this.y[a] += down * push * share;
    this.x[b] -= along * push * (1 - share);
    this.y[b] -= down * push * (1 - share);
  }

  // x, y of each node in turn.
  positions() {
    const found = new Float32Array(2 * this.count);
    for (let n = 0; n < this.count; n += 1) {
      found[2 * n] = this.x[n];
      found[2 * n + 1] = this.y[n];
    }
    return found;
  }
}
