// The source beside the answer: the page with the sentence marked, or the text where a paper has no pages.

import { json, paperPath, request } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";

const USUAL_WIDTH = 600; // points; only to scroll near the mark
const panel = document.getElementById("viewer");
const papers = new Map();
let from = null;
let shown = 0;
let image = null;

export function loadPaper(id, collection) {
  const name = `${collection}\n${id}`;
  if (!papers.has(name)) {
    if (papers.size > 50) papers.clear();
    papers.set(name, json(paperPath(id, `?collection=${encodeURIComponent(collection)}`)).catch((error) => {
      papers.delete(name);
      throw error;
    }));
  }
  return papers.get(name);
}

// After an indexing: what was loaded may be corrected.
export function forgetPapers() {
  papers.clear();
}

export async function openCitation(citation, collection, origin) {
  from = origin;
  panel.hidden = false;
  document.body.classList.add("viewing");
  await show({ ...citation, collection, page: citation.page ?? 1, pages: citation.page ? null : 0 });
  panel.querySelector("h2")?.focus();
}

export function closeViewer() {
  if (panel.hidden) return;
  panel.hidden = true;
  document.body.classList.remove("viewing");
  shown += 1;
  free();
  if (from?.isConnected) from.focus();
}

async function show(view) {
  const turn = (shown += 1);
  const body = h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": view.paper_title }, h("p", { class: "dim pad" }, t("drawing")));
  const count = h("span", { class: "count" });
  const previous = h("button", { type: "button", class: "quiet", "aria-label": t("previous"), disabled: true }, "‹");
  const next = h("button", { type: "button", class: "quiet", "aria-label": t("next"), disabled: true }, "›");
  replace(panel,
    h("header", {},
      h("h2", { id: "viewer-title", tabindex: "-1" }, quoted(view.paper_title || view.paper_id)),
      h("button", { type: "button", class: "quiet", "aria-label": t("close"), onclick: closeViewer }, "×")),
    h("div", { class: "row pages" }, previous, count, next,
      h("a", { class: "end", href: `#/paper/${encodeURIComponent(view.collection)}/${encodeURIComponent(view.paper_id)}${view.page > 1 ? `?page=${view.page}` : ""}`, onclick: closeViewer }, t("whole"))),
    body);
  try {
    const paper = await loadPaper(view.paper_id, view.collection);
    if (turn !== shown) return;
    const pages = ["pdf", "image"].includes(paper.document_type) ? paper.page_count : 0;
    count.textContent = pages ? t("pageOf", view.page, pages) : t("text");
    previous.disabled = !pages || view.page <= 1;
    next.disabled = !pages || view.page >= pages;
    previous.onclick = () => show({ ...view, page: view.page - 1 });
    next.onclick = () => show({ ...view, page: view.page + 1 });
    previous.hidden = next.hidden = !pages;
    if (pages) await drawPage(view, body, turn);
    else showText(paper, view, body);
  } catch (error) {
    if (turn === shown) replace(body, h("p", { class: "pad error" }, `${t("noPage")} ${error.message}`));
  }
}

async function drawPage(view, body, turn) {
  const query = new URLSearchParams({ collection: view.collection });
  for (const sentence of view.sentence_ids) query.append("highlight", sentence);
  const response = await request(paperPath(view.paper_id, `/pages/${view.page}.png?${query}`));
  const content = await response.blob();
  if (turn !== shown) return;
  free();
  image = URL.createObjectURL(content);
  const drawn = h("img", { src: image, alt: `${t("pageImage", view.page, view.paper_title)}. ${view.quote ?? ""}` });
  replace(body, drawn);
  if (view.sentence_ids.length) say(t("marked"));
  await drawn.decode().catch(() => null);
  const first = (view.spans ?? []).find((span) => span.page === view.page)?.boxes?.[0];
  if (first) body.scrollTop = Math.max(0, first[1] * (drawn.clientWidth / USUAL_WIDTH) - body.clientHeight / 3);
}

function showText(paper, view, body) {
  const parts = paper.sections.map((section) => {
    const at = view.quote ? section.text.indexOf(view.quote) : -1;
    const text = at < 0 ? [section.text] : [section.text.slice(0, at), h("mark", {}, view.quote), section.text.slice(at + view.quote.length)];
    return [h(section.level > 1 ? "h4" : "h3", {}, section.heading), h("p", { class: "text" }, text)];
  });
  replace(body, h("div", { class: "pad paper-text" }, parts));
  body.querySelector("mark")?.scrollIntoView({ block: "center" });
}

function free() {
  if (image) URL.revokeObjectURL(image);
  image = null;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeViewer();
});
