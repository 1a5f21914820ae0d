// Which nodes of a map pass the filter: by years, words, theme, and whether papers without citations are shown.

export function passing(graph, { from, to, text, unlinked, only }) {
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const linked = linkedNodes(graph);
  return graph.ids.map((_, n) => {
    if (!unlinked && !linked[n]) return 0;
    if (only && !only.has(n)) return 1;
    if (!inYears(graph.years[n], from, to)) return 1;
    const held = `${graph.labels[n]} ${graph.names[n] ?? ""}`.toLocaleLowerCase();
    return words.every((word) => held.includes(word)) ? 2 : 1;
  });
}

// A node without a year passes only where no years are asked for.
function inYears(years, from, to) {
  if (from === null && to === null) return true;
  return years.some((year) => (from === null || year >= from) && (to === null || year <= to));
}

// Papers that cite or are cited here; of other graphs all nodes.
function linkedNodes(graph) {
  if (graph.kind !== "citations") return new Uint8Array(graph.ids.length).fill(1);
  const linked = new Uint8Array(graph.ids.length);
  for (let e = 0; e < graph.sources.length; e += 1) {
    if (!graph.alike[e]) linked[graph.sources[e]] = linked[graph.targets[e]] = 1;
  }
  return linked;
}
