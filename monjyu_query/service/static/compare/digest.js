// A digest in the shape of an answer, and what relates its papers.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { said } from "../said.js";

// The parts as pieces of an answer: a heading where a new theme begins, a paragraph a paper, led by its name.
export function segmentsOf(digest) {
  const labels = new Map(digest.papers.map((paper) => [paper.paper_id, paper.label || paper.title]));
  const found = [];
  let before = null;
  for (const part of digest.parts) {
    if (part.heading && part.heading !== before) found.push({ text: `\n\n${part.heading}`, heading: true, citations: [] });
    before = part.heading;
    const label = labels.get(part.paper_id);
    part.statements.forEach((said, place) => {
      const lead = place ? " " : "\n\n";
      found.push({ text: `${lead}${!place && label ? `${label}: ` : ""}${said.text}`, label: !place && label ? `${label}:` : null, citations: said.citations });
    });
  }
  return found;
}

// As the result of a search, for what shows those.
export function asResult(digest, info) {
  return {
    query: digest.subject, collection: digest.collection, snapshot_id: digest.snapshot_id, level: info.level, mode: "digest", routing: { query_type: digest.kind, reason: "" },
    status: digest.status, warnings: digest.warnings, trace_id: "", answer: "", segments: segmentsOf(digest), tables: digest.tables, answer_engine: "", verified: digest.verified,
    confidence: null, citations: digest.citations, hits: [], claims: [], subqueries: [], communities_visited: [], follow_ups: [], usage: digest.usage, phases: {},
  };
}

export function warningsOf(digest) {
  return digest.warnings.length ? h("ul", { class: "warnings" }, digest.warnings.map((text) => h("li", {}, said(text)))) : null;
}

export function relations(digest) {
  const labels = new Map(digest.papers.map((paper) => [paper.paper_id, paper.label || paper.title]));
  const name = (id) => h("a", { href: `#/paper/${encodeURIComponent(digest.collection)}/${encodeURIComponent(id)}` }, quoted(labels.get(id) ?? id));
  const links = digest.links.map((link) => h("li", {}, name(link.citing_id), ` ${t("compare_cites")} → `, name(link.cited_id),
    link.contexts.slice(0, 1).map((context) => h("blockquote", { class: "dim" }, context))));
  return [
    links.length ? h("section", {}, h("h2", {}, t("compare_links")), h("ul", { class: "plain" }, links)) : null,
    digest.shared_terms.length ? h("section", {}, h("h2", {}, t("compare_shared")), h("ul", { class: "chips" }, digest.shared_terms.map((term) => h("li", {}, h("span", { class: "chip" }, quoted(term)))))) : null,
  ];
}
