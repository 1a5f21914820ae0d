// The edges of a map: few while it moves, all at rest; a citation has a head at the paper that is cited.

const MOST_WIDE = 2000; // lines wider than a pixel take five times as long to draw
const FAINT = 0.1;

export function drawEdges(picture, center) {
  const { pen, at, shown, places, graph, colours } = picture;
  const { sources, targets, alike } = graph;
  const most = picture.still ? sources.length : picture.budget;
  const paths = new Map();
  const { width, height } = picture.camera;
  for (let e = 0, drawn = 0; e < sources.length && drawn < most; e += 1) {
    const [a, b] = [sources[e], targets[e]];
    if (shown[a] !== 2 || shown[b] !== 2) continue;
    const [x1, y1, x2, y2] = [at[2 * a], at[2 * a + 1], at[2 * b], at[2 * b + 1]];
    if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > width && x2 > width) || (y1 > height && y2 > height)) continue;
    const mine = a === center || b === center;
    const key = mine ? -1 : 2 * (places[a] === places[b] ? places[a] : 99) + alike[e];
    let path = paths.get(key);
    if (!path) paths.set(key, (path = []));
    path.push(x1, y1, x2, y2);
    drawn += 1;
  }
  const dimmed = picture.near !== null;
  const hair = sources.length > MOST_WIDE;
  const dense = Math.min(1, Math.max(0.35, 60 / Math.sqrt(sources.length + 1)));
  for (const [key, path] of paths) {
    const mine = key === -1;
    const resembling = key >= 0 && key % 2 === 1;
    const own = key >= 0 && key < 198 ? colours.node[key >> 1] : colours.line;
    const usual = resembling ? 0.28 : graph.kind === "citations" ? 0.9 : key < 198 ? 0.6 : 0.3;
    lines(pen, path, mine ? colours.accent : own, mine ? 1.8 : resembling || graph.kind === "concepts" || hair ? 0.8 : 1.4, mine ? 0.9 : (dimmed ? FAINT : usual) * dense);
  }
  pen.globalAlpha = 1;
  if (graph.kind === "concepts" || picture.camera.scale < 0.5 || (hair && !picture.still)) return;
  arrows(picture, center);
}

function lines(pen, path, colour, width, alpha) {
  [pen.strokeStyle, pen.lineWidth, pen.globalAlpha] = [colour, width, alpha];
  // Many short paths are drawn faster than one long one, which has to be joined first.
  for (let from = 0; from < path.length; from += 1600) {
    pen.beginPath();
    for (let n = from; n < Math.min(path.length, from + 1600); n += 4) {
      pen.moveTo(path[n], path[n + 1]);
      pen.lineTo(path[n + 2], path[n + 3]);
    }
    pen.stroke();
  }
}

// Which way a citation goes: a small head at the paper that is cited.
function arrows(picture, center) {
  const { pen, at, shown, graph, colours } = picture;
  const { sources, targets, alike } = graph;
  for (let e = 0, drawn = 0; e < sources.length && drawn < 600; e += 1) {
    const [a, b] = [sources[e], targets[e]];
    if (alike[e] || shown[a] !== 2 || shown[b] !== 2 || !picture.visible(at[2 * b], at[2 * b + 1], 20)) continue;
    drawn += 1;
    const mine = a === center || b === center;
    const angle = Math.atan2(at[2 * b + 1] - at[2 * a + 1], at[2 * b] - at[2 * a]);
    const far = picture.radius(b) + 2;
    const [x, y] = [at[2 * b] - far * Math.cos(angle), at[2 * b + 1] - far * Math.sin(angle)];
    pen.globalAlpha = mine ? 0.95 : picture.near ? FAINT : 0.6;
    pen.fillStyle = mine ? colours.accent : colours.dim;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - 7 * Math.cos(angle - 0.4), y - 7 * Math.sin(angle - 0.4));
    pen.lineTo(x - 7 * Math.cos(angle + 0.4), y - 7 * Math.sin(angle + 0.4));
    pen.fill();
  }
  pen.globalAlpha = 1;
}
