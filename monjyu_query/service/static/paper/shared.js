// What the views of papers share: a link to one, and facts in a row.

import { h, quoted } from "../dom.js";

export function paperLink(paper, collection) {
  const where = `#/paper/${encodeURIComponent(collection)}/${encodeURIComponent(paper.paper_id)}`;
  return h("a", { href: where }, quoted(paper.title || paper.paper_id));
}

export function listed(names) {
  return names.flatMap((name, place) => [place ? ", " : "", quoted(name)]);
}

export function parted(facts) {
  const there = facts.filter((fact) => (Array.isArray(fact) ? fact[0].length : fact));
  return there.flatMap((fact, place) => [place ? " · " : "", fact]);
}
