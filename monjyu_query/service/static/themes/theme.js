// One theme: what its papers say, with the pages; its papers, words and narrower themes. And the widest ones as cards.

import { answerBlocks } from "../ask/answer.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { segments } from "../maps/controls.js";
import { openCitation } from "../paper/viewer.js";
import "../maps/words.js";

const MOST_PAPERS = 10;
const MOST_CARDS = 60;

export function overview({ name, info }, found, address) {
  const widest = found.themes.filter((theme) => theme.parent === null);
  const kinds = found.kinds.length > 1 ? segments(t("themes_kind"), found.kinds.map((kind) => [kind, t(`themes_${kind}`), { href: `#/themes/${encodeURIComponent(name)}?kind=${kind}` }]), found.kind) : null;
  return h("article", { class: "theme" }, h("div", { class: "theme-head" }, h("h1", { tabindex: "-1" }, t("themes")), kinds,
    h("a", { class: "button", href: `#/tensions/${encodeURIComponent(name)}` }, t("themes_tensions"))),
    h("p", { class: "dim" }, t(`themes_line_${found.kind}`)),
    info.level < 3 ? h("p", { class: "dim" }, t("themes_level_3", name)) : null,
    h("h2", {}, t("themes_widest"), h("span", { class: "dim" }, ` ${widest.length}`)), cards(widest, found, address));
}

function cards(themes, { kind, themes: all }, address) {
  const children = new Map();
  for (const theme of all) children.set(theme.parent, (children.get(theme.parent) ?? 0) + 1);
  const most = Math.max(1, ...themes.map((theme) => theme.papers));
  const list = h("ul", { class: "theme-cards" });
  const card = (theme) => h("li", {}, h("a", { class: "theme-card", href: address(theme) },
    named(theme, kind), theme.sentence ? h("span", { class: "sentence" }, quoted(theme.sentence)) : null, weight(theme.papers / most), h("span", { class: "dim" }, facts(theme, kind, children.get(theme.id)))));
  const fill = (most) => replace(list, themes.slice(0, most).map(card));
  fill(MOST_CARDS);
  const more = themes.length > MOST_CARDS ? h("button", { type: "button", onclick: (event) => {
    fill(themes.length);
    event.currentTarget.remove();
    list.children[MOST_CARDS].querySelector("a").focus();
  } }, t("themes_more", themes.length)) : null;
  return [list, more];
}

// The first phrase names a theme; the others are listed after it.
function named(theme, kind) {
  const [phrase, ...others] = kind === "communities" ? theme.title.split(", ") : [theme.title];
  return [h("span", { class: "title" }, quoted(phrase || theme.id)), others.length ? h("span", { class: "dim" }, quoted(others.join(", "))) : null];
}

function weight(share) {
  const bar = h("span", { class: "weight", "aria-hidden": "true" }, h("i"));
  bar.firstChild.style.width = `${Math.round(100 * share)}%`;
  return bar;
}

function facts(theme, kind, children) {
  const found = [t("themes_papers", theme.papers), theme.first_year ? t("themes_years", theme.first_year, theme.last_year) : null, t(`themes_size_${kind}`, theme.size), children ? t("themes_count", children) : null].filter(Boolean);
  return found.map((fact, n) => [n ? " " : null, h("span", { class: "fact" }, n ? "· " : null, fact)]); // none is broken in two
}

export function themePage(context, page, themes, address) {
  const { name, ask } = context;
  const { theme, kind } = page;
  const below = themes.filter((one) => one.parent === theme.id);
  const onMap = (map) => `#/maps/${encodeURIComponent(name)}?${new URLSearchParams({ kind: map, theme: theme.id })}`;
  return h("article", { class: "theme" }, path(theme, themes, address),
    h("h1", { tabindex: "-1" }, quoted(theme.title || theme.id)), h("p", { class: "dim" }, facts(theme, kind, below.length)),
    h("div", { class: "row" },
      page.papers.length ? h("button", { type: "button", class: "primary", onclick: () => ask({ paper_ids: page.papers.slice(0, 100).map((paper) => paper.paper_id) }, theme.title) }, t("themes_ask")) : null,
      h("a", { class: "button", href: onMap("citations") }, t("themes_map_citations")),
      kind === "communities" ? h("a", { class: "button", href: onMap("concepts") }, t("themes_map_concepts")) : null),
    said(page, name), below.length ? h("section", {}, h("h2", {}, t("themes_below")), cards(below, { kind, themes }, address)) : null,
    papers(page, name), words(page, name));
}

function path(theme, themes, address) {
  const above = [];
  const byId = new Map(themes.map((one) => [one.id, one]));
  for (let one = byId.get(theme.parent); one; one = byId.get(one.parent)) above.unshift(one);
  return h("nav", { class: "path", "aria-label": t("themes_path") }, h("a", { href: address(null) }, t("themes_all")), above.map((one) => [h("span", { "aria-hidden": "true" }, " › "), h("a", { href: address(one) }, quoted(one.title))]));
}

// The findings of a report; where nobody wrote one, the passages that speak most of the theme.
function said(page, name) {
  if (page.kind === "communities") return passages(page, name);
  const written = page.engine && !page.engine.startsWith("extractive");
  const pieces = page.findings.map((finding) => ({ text: `\n- ${finding.summary}${written && finding.explanation ? ` ${finding.explanation}` : ""}`, label: written ? finding.summary : null, citations: finding.citations }));
  return h("section", {}, h("h2", {}, t("themes_findings")),
    written ? [h("p", { class: "text" }, page.summary), h("p", { class: "dim" }, t("themes_by_model"))] : null,
    h("div", { class: "answer findings" }, sourced(answerBlocks(pieces, page.citations, name), page)));
}

// Under each finding the papers that say it.
function sourced(blocks, { findings, citations }) {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  const items = blocks.flatMap((block) => (block.localName === "ul" ? [...block.children] : []));
  items.forEach((item, place) => {
    const titles = new Set((findings[place]?.citations ?? []).map((n) => byNumber.get(n)?.paper_title).filter(Boolean));
    if (titles.size) item.append(h("p", { class: "dim from" }, [...titles].map((title, n) => [n ? " · " : "", quoted(title)])));
  });
  return blocks;
}

function passages({ passages: hits }, name) {
  if (!hits.length) return null;
  return h("section", {}, h("h2", {}, t("themes_passages")), h("ul", { class: "plain quotes" }, hits.map((hit) => h("li", {},
    h("blockquote", { class: "clamped" }, hit.text), h("p", { class: "where" }, h("button", { type: "button", class: "link", onclick: (event) => openHit(hit, name, event) }, quoted(hit.paper_title), hit.page ? `, ${t("page", hit.page)}` : ""))))));
}

function openHit(hit, name, event) {
  openCitation({ paper_id: hit.paper_id, paper_title: hit.paper_title, page: hit.page, sentence_ids: [], quote: hit.text }, name, event.currentTarget);
}

function papers({ papers: all }, name) {
  const list = h("ul", { class: "plain theme-papers" });
  const most = Math.max(...all.map((paper) => paper.share), 1e-9);
  const item = (paper) => h("li", { title: t("themes_share", Math.round(100 * paper.share)) }, h("a", { href: `#/paper/${encodeURIComponent(name)}/${encodeURIComponent(paper.paper_id)}` }, quoted(paper.title)),
    h("span", { class: "dim" }, quoted(paper.label)), weight(paper.share / most));
  replace(list, all.slice(0, MOST_PAPERS).map(item));
  const more = all.length > MOST_PAPERS ? h("button", { type: "button", class: "small", onclick: (event) => {
    replace(list, all.map(item));
    event.currentTarget.remove();
    list.children[MOST_PAPERS].querySelector("a").focus();
  } }, t("themes_more", all.length)) : null;
  return h("section", {}, h("h2", {}, t("themes_paper_list"), h("span", { class: "dim" }, ` ${all.length}`)), list, more);
}

function words({ terms, kind }, name) {
  if (!terms.length) return null;
  const link = (term) => (kind === "communities" ? h("a", { class: "chip", href: `#/maps/${encodeURIComponent(name)}?${new URLSearchParams({ kind: "concepts", find: term.name })}` }, quoted(term.name)) : h("span", { class: "chip" }, quoted(term.name), h("span", { class: "dim" }, String(term.count))));
  return h("section", {}, h("h2", {}, t("themes_terms")), h("ul", { class: "chips" }, terms.map((term) => h("li", {}, link(term)))));
}
