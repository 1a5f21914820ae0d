// A result: the answer with its markers as buttons, the sources, the passages, and what it took.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { openCitation } from "./viewer.js";

export function renderResult(result) {
  const byNumber = new Map(result.citations.map((citation) => [citation.n, citation]));
  return h("div", { class: "result" },
    result.warnings.length ? h("ul", { class: "warnings" }, result.warnings.map((text) => h("li", {}, text))) : null,
    h("div", { class: `answer ${result.status}` },
      result.status === "complete" ? null : h("p", { class: "badge" }, t(`status_${result.status}`)),
      ...paragraphs(result, byNumber)),
    result.citations.length ? h("section", { class: "sources" }, h("h3", {}, t("sources")),
      h("ol", {}, result.citations.map((citation) => source(citation, result.collection)))) : null,
    result.hits.length ? h("details", { class: "hits" }, h("summary", {}, t("passages", result.hits.length)),
      h("ol", {}, result.hits.map((hit) => passage(hit, result.collection)))) : null,
    facts(result));
}

function paragraphs(result, byNumber) {
  return result.answer.split(/\n{2,}/).map((text) => h("p", {}, text.split(/(\[\d+\])/).map((piece) => {
    const citation = /^\[\d+\]$/.test(piece) ? byNumber.get(Number(piece.slice(1, -1))) : undefined;
    return citation ? marker(citation, result.collection) : piece;
  })));
}

function marker(citation, collection) {
  return h("button", {
    type: "button", class: "marker", "aria-label": t("openPage", citation.n), title: `${citation.paper_title}\n${citation.quote}`,
    onclick: (event) => openCitation(citation, collection, event.currentTarget),
  }, String(citation.n));
}

function source(citation, collection) {
  return h("li", { value: citation.n },
    h("blockquote", {}, citation.quote),
    h("p", { class: "where" },
      h("button", { type: "button", class: "link", onclick: (event) => openCitation(citation, collection, event.currentTarget) },
        citation.paper_title || citation.paper_id, citation.page ? `, ${t("page", citation.page)}` : ""),
      citation.retracted ? h("span", { class: "badge" }, t("retracted")) : null));
}

function passage(hit, collection) {
  const citation = { paper_id: hit.paper_id, paper_title: hit.paper_title, page: hit.page, sentence_ids: [], quote: hit.text };
  return h("li", {},
    h("p", { class: "where" }, h("button", { type: "button", class: "link", onclick: (event) => openCitation(citation, collection, event.currentTarget) },
      hit.paper_title || hit.paper_id, hit.page ? `, ${t("page", hit.page)}` : ""), h("span", { class: "dim" }, ` ${hit.section_type} · ${hit.score.toFixed(2)}`)),
    h("p", { class: "text" }, hit.text));
}

function facts(result) {
  const used = result.usage;
  const parts = [t(`mode_${result.mode}`), t("level", result.level), t("seconds", used.seconds.toFixed(used.seconds < 1 ? 2 : 1))];
  if (used.budget_total) parts.push(t("spent", used.relevance_tests, used.budget_total));
  parts.push(used.llm_calls ? t("calls", used.llm_calls) : t("noModel"));
  if (used.cost_usd) parts.push(t("cost", used.cost_usd.toFixed(4)));
  parts.push(`${t("snapshot")} ${result.snapshot_id}`);
  return h("p", { class: "facts" }, parts.join(" · "));
}
