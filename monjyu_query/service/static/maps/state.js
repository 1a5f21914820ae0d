// What a map is shown by: the values of its address, the sizes of its nodes, those that a theme is about.

// Papers by how often they are cited, larger where there are few; concepts by their passages.
export function radiiOf({ kind, sizes }) {
  const few = Math.min(1.6, Math.max(1, 9 / Math.sqrt(sizes.length)));
  return Float32Array.from(sizes, (size) => (kind === "citations" ? few * Math.min(30, 5 + 3.5 * Math.sqrt(size)) : Math.min(22, 2 + 1.5 * Math.sqrt(size))));
}

export function stateOf(params, graph) {
  const year = (name) => (/^\d{1,4}$/.test(params.get(name) ?? "") ? Number(params.get(name)) : null);
  const colour = params.get("colour");
  return {
    colour: graph.named.length ? (colour === "year" ? "year" : "community") : "year",
    from: year("from"), to: year("to"), text: params.get("find") ?? "", unlinked: params.get("unlinked") !== "no", only: null,
  };
}

// The nodes that a theme is about: its papers, or its words.
export function nodesOf(graph, { papers, terms }) {
  const wanted = new Set(graph.kind === "citations" ? papers.map((paper) => paper.paper_id) : terms.map((term) => term.name.toLocaleLowerCase()));
  const found = graph.ids.map((_, n) => n).filter((n) => wanted.has(graph.kind === "citations" ? graph.ids[n] : graph.labels[n].toLocaleLowerCase()));
  return new Set(found);
}

// What the address says of all this.
export function queryOf(state, { kind }, theme, node) {
  const values = { kind, colour: state.colour, from: state.from, to: state.to, find: state.text, theme: theme?.theme.id, node, unlinked: state.unlinked ? "" : "no" };
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ""));
}
