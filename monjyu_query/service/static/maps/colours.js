// The colours of a map, from the tokens of the theme: eight for communities, a run of them for years.

const COMMUNITIES = 8;
const YEAR_STEPS = 7;
const UNKNOWN = COMMUNITIES; // the place of what is in none

function tokens() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

function channels(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function mixed(first, second, share) {
  const [a, b] = [channels(first), channels(second)];
  return `rgb(${a.map((value, n) => Math.round(value + (b[n] - value) * share)).join(" ")})`;
}

// `node`: colours by place, the last for what is unknown; the others by what they are for.
export function palette(colour) {
  const token = tokens();
  const run = [token("year-old"), token("year-middle"), token("year-new")];
  const year = (n) => {
    const at = (2 * n) / (YEAR_STEPS - 1);
    const part = Math.min(1, Math.floor(at));
    return mixed(run[part], run[part + 1], at - part);
  };
  const node = colour === "year"
    ? Array.from({ length: YEAR_STEPS }, (_, n) => year(n))
    : Array.from({ length: COMMUNITIES }, (_, n) => token(`map-${n + 1}`));
  return {
    node: [...node, token("map-other")], paper: token("paper"), ink: token("ink"), dim: token("dim"), line: token("map-line"), accent: token("accent"), serif: token("serif"), sans: token("sans"),
  };
}

// The place in the palette of each node.
export function coloured(graph, colour, span) {
  const places = new Uint8Array(graph.ids.length);
  for (let n = 0; n < places.length; n += 1) {
    if (colour === "year") places[n] = yearPlace(middle(graph.years[n]), span);
    else places[n] = graph.communities[n] < 0 ? UNKNOWN : graph.communities[n];
  }
  return places;
}

function yearPlace(year, [first, last]) {
  if (year === null) return YEAR_STEPS;
  return Math.round(((YEAR_STEPS - 1) * (year - first)) / Math.max(1, last - first));
}

// The middle of the years of a node: of a paper its own. Null where none is known.
export function middle(years) {
  return years.length ? years[Math.floor((years.length - 1) / 2)] : null;
}

// First and last year of the graph; null where no year is known.
export function yearSpan(graph) {
  const years = graph.years.flat();
  return years.length ? [years.reduce((a, b) => Math.min(a, b)), years.reduce((a, b) => Math.max(a, b))] : null;
}

// Called when light turns dark or the reverse, until `signal` is aborted.
export function onTheme(changed, signal) {
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
  signal.addEventListener("abort", () => watch.disconnect());
}
