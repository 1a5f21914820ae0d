// A map drawn on a canvas: edges, nodes, words. While it moves only the heaviest edges are drawn, at rest all of them.

import { Camera } from "./camera.js";
import { drawEdges } from "./edges.js";
import { Labels, shortened } from "./labels.js";

const WHOLE = 2 * Math.PI;
const [EDGES_LEAST, EDGES_MOST] = [600, 4000]; // edges drawn while the map moves, by how quick frames are
const [QUICK, SLOW] = [40, 65]; // milliseconds of a frame
const MOST_OUTLINED = 1500; // nodes that have an outline while they move
const REST = 140; // milliseconds after the last movement
const DENSITY = 8500; // square pixels for each word

export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.camera = new Camera();
    this.labels = new Labels();
    this.chosen = -1;
    this.hovered = -1;
    this.asked = false;
    this.moved = 0;
    this.budget = 2500;
    this.last = 0;
  }

  // `shown`: 2 drawn, 1 faintly (it does not pass the filter), 0 not at all.
  set({ graph, radii, names, shown, places, colours, titles }) {
    this.graph = graph ?? this.graph;
    this.radii = radii ?? this.radii;
    this.names = names ? names.map(shortened) : this.names;
    this.shown = shown ?? this.shown;
    this.places = places ?? this.places;
    this.colours = colours ?? this.colours;
    this.titles = titles === undefined ? this.titles : titles;
    if (graph) this.neighbours = neighboursOf(graph);
    this.ask();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const sharp = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(width * sharp));
    this.canvas.height = Math.max(1, Math.round(height * sharp));
    this.sharp = sharp;
    this.camera.resize(width, height);
    this.draw();
  }

  // Has it drawn with the next frame; `moving` while hand or layout move it.
  ask(moving = false) {
    if (moving) {
      this.moved = performance.now();
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.ask(), REST);
    }
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    if (!this.positions || !this.colours || !this.canvas.width) return;
    this.pace();
    const { pen } = this;
    pen.setTransform(this.sharp, 0, 0, this.sharp, 0, 0);
    pen.clearRect(0, 0, this.camera.width, this.camera.height);
    this.project();
    const center = this.hovered >= 0 ? this.hovered : this.chosen;
    this.near = center < 0 ? this.marked ?? null : new Set([center, ...this.neighbours[center].map(([other]) => other)]);
    drawEdges(this, center);
    this.nodes(center);
    this.words(center);
  }

  // Fewer edges where the frames of a movement come slowly, more where they come quickly.
  pace() {
    const now = performance.now();
    const gap = now - this.last;
    this.last = now;
    this.still = now - this.moved >= REST;
    if (this.still || gap > REST) return;
    if (gap > SLOW) this.budget = Math.max(EDGES_LEAST, this.budget * 0.75);
    else if (gap < QUICK) this.budget = Math.min(EDGES_MOST, this.budget * 1.15);
  }

  // Where every node stands on the canvas.
  project() {
    const { camera, positions } = this;
    this.at ??= new Float32Array(positions.length);
    if (this.at.length !== positions.length) this.at = new Float32Array(positions.length);
    for (let n = 0; n < positions.length; n += 2) {
      this.at[n] = camera.across(positions[n]);
      this.at[n + 1] = camera.down(positions[n + 1]);
    }
    this.grown = Math.min(2.2, Math.max(0.28, Math.sqrt(camera.scale)));
  }

  radius(node) {
    return Math.max(1.5, this.radii[node] * Math.min(this.grown, this.camera.scale * 1.15));
  }

  visible(x, y, margin) {
    return x > -margin && y > -margin && x < this.camera.width + margin && y < this.camera.height + margin;
  }

  nodes(center) {
    const { pen, at, shown, places, colours } = this;
    const groups = new Map();
    for (let n = shown.length - 1; n >= 0; n -= 1) {
      if (!shown[n] || !this.visible(at[2 * n], at[2 * n + 1], 40)) continue;
      const faint = shown[n] === 1 || (this.near && !this.near.has(n));
      const key = places[n] * 4 + (this.radius(n) > 3 ? 2 : 0) + (faint ? 1 : 0);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(n);
    }
    const outlined = this.still || shown.length < MOST_OUTLINED;
    const rank = (key) => (key & 2) - 4 * (key & 1); // the faint ones below, the large ones above
    for (const [key, group] of [...groups].sort(([a], [b]) => rank(a) - rank(b))) {
      pen.globalAlpha = key & 1 ? 0.22 : 0.94;
      pen.fillStyle = colours.node[key >> 2];
      [pen.strokeStyle, pen.lineWidth] = [colours.paper, 1.2];
      this.dots(group, Boolean(key & 2) && outlined);
    }
    pen.globalAlpha = 1;
    if (center >= 0) this.ring(center);
  }

  dots(group, outlined) {
    const { pen, at } = this;
    for (let from = 0; from < group.length; from += 200) {
      pen.beginPath();
      for (const n of group.slice(from, from + 200)) {
        const [x, y, radius] = [at[2 * n], at[2 * n + 1], this.radius(n)];
        pen.moveTo(x + radius, y);
        pen.arc(x, y, radius, 0, WHOLE);
      }
      pen.fill();
      if (outlined) pen.stroke();
    }
  }

  ring(node) {
    const { pen, at, colours } = this;
    pen.beginPath();
    pen.arc(at[2 * node], at[2 * node + 1], this.radius(node) + 4, 0, WHOLE);
    [pen.strokeStyle, pen.lineWidth] = [colours.accent, 2.5];
    pen.stroke();
  }

  words(center) {
    const { pen, at, shown, colours, names, camera } = this;
    this.labels.begin(pen, Math.round((camera.width * camera.height) / DENSITY), camera.width);
    pen.textAlign = "center";
    pen.lineJoin = "round";
    const plain = `12px ${colours.sans}`;
    const strong = `600 13px ${colours.sans}`;
    this.reserve();
    const found = [];
    const put = (n, font, force) => {
      const [x, y] = [at[2 * n], at[2 * n + 1]];
      if (!this.visible(x, y, 0)) return;
      const place = this.labels.placed(names[n], font, x, y, this.radius(n), force);
      if (place) found.push([names[n], font, ...place]);
    };
    if (center >= 0) {
      put(center, strong, true);
      for (const [other] of this.neighbours[center].slice(0, 40)) if (shown[other]) put(other, plain, false);
    }
    if (center < 0) this.headings();
    for (let n = 0; n < names.length && this.labels.left > 0; n += 1) {
      if (shown[n] !== 2 || (this.near && !this.near.has(n)) || n === center) continue;
      if (this.radius(n) < 2.6 && n > 60) continue;
      if (center < 0) put(n, n < 6 ? strong : plain, false);
    }
    for (const [text, font, x, y] of found) this.word(text, font, x, y, colours.ink, 3.5);
  }

  // Large nodes are not written over.
  reserve() {
    for (let n = 0, left = 150; n < this.names.length && left > 0; n += 1) {
      const radius = this.radius(n);
      if (radius < 5) return;
      const [x, y] = [this.at[2 * n], this.at[2 * n + 1]];
      if (this.shown[n] !== 2 || !this.visible(x, y, 0)) continue;
      this.labels.take([x - radius, y - radius, x + radius, y + radius]);
      left -= 1;
    }
  }

  // Names of communities in the middle of their nodes, while the whole map is seen.
  headings() {
    const { pen, at, shown, colours, titles } = this;
    if (!titles || this.camera.scale > 1.4 || this.near) return;
    const font = `italic 600 ${this.camera.width < 640 ? 13 : 15}px ${colours.serif}`;
    for (const { name: whole, nodes, place } of titles) {
      const name = whole.split(", ").slice(0, 2).join(" · ");
      let [x, y, count] = [0, 0, 0];
      for (const n of nodes) {
        if (shown[n] !== 2) continue;
        x += at[2 * n];
        y += at[2 * n + 1];
        count += 1;
      }
      if (count < 3) continue;
      const spot = this.labels.placed(name, font, x / count, y / count - 16, 0);
      if (spot) this.word(name, font, spot[0], spot[1], colours.node[place], 5);
    }
    pen.globalAlpha = 1;
  }

  word(text, font, x, y, colour, halo) {
    const { pen, colours } = this;
    [pen.font, pen.lineWidth, pen.strokeStyle, pen.fillStyle] = [font, halo, colours.paper, colour];
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }

  // The node at a place of the canvas, or -1; a finger needs more room than a mouse.
  under(x, y, slack = 5) {
    let [best, nearest] = [-1, Infinity];
    if (!this.at) return best;
    for (let n = 0; n < this.shown.length; n += 1) {
      if (this.shown[n] !== 2) continue;
      const far = Math.hypot(this.at[2 * n] - x, this.at[2 * n + 1] - y) - this.radius(n);
      if (far < Math.min(slack, nearest)) [best, nearest] = [n, far];
    }
    return best;
  }
}

// Of each node [other, edge], in the order of the edges.
function neighboursOf(graph) {
  const found = graph.ids.map(() => []);
  for (let e = 0; e < graph.sources.length; e += 1) {
    found[graph.sources[e]].push([graph.targets[e], e]);
    found[graph.targets[e]].push([graph.sources[e], e]);
  }
  return found;
}
