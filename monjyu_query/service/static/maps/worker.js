// Lays a map out beside the page, and tells every now and then how far it is.

import { Layout } from "./layout.js";

const TELL_EVERY = 60; // milliseconds

onmessage = ({ data: { graph, radii } }) => {
  const layout = new Layout(graph, radii);
  let told = 0;
  while (!layout.done) {
    layout.step();
    const now = performance.now();
    if (now - told < TELL_EVERY) continue;
    told = now;
    tell(layout, false);
  }
  tell(layout, true);
};

function tell(layout, done) {
  const positions = layout.positions();
  postMessage({ positions, done }, [positions.buffer]);
}
