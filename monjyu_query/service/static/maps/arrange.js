// Has a map laid out in a worker; where there can be none, in slices of frames.

import { Layout } from "./layout.js";

const SLICE = 12; // milliseconds of a frame

// `moved(positions, done)` is called as the nodes move, until `signal` is aborted.
export function arrange(graph, radii, moved, signal) {
  const wanted = { ids: graph.ids, communities: graph.communities, sources: graph.sources, targets: graph.targets, alike: graph.alike };
  let worker;
  try {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  } catch {
    inSlices(wanted, radii, moved, signal);
    return;
  }
  worker.onmessage = ({ data }) => {
    if (data.done) worker.terminate();
    if (!signal.aborted) moved(data.positions, data.done);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    inSlices(wanted, radii, moved, signal);
  };
  signal.addEventListener("abort", () => worker.terminate());
  worker.postMessage({ graph: wanted, radii });
}

function inSlices(graph, radii, moved, signal) {
  const layout = new Layout(graph, radii);
  const slice = () => {
    const until = performance.now() + SLICE;
    while (!layout.done && performance.now() < until) layout.step();
    if (signal.aborted) return;
    moved(layout.positions(), layout.done);
    if (!layout.done) requestAnimationFrame(slice);
  };
  requestAnimationFrame(slice);
}
