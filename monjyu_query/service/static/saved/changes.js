// What changed in the answers from one snapshot to another: each citation that came, went or moved, and why.

import { json } from "../api.js";
import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { when } from "../operate/shared.js";
import { openCitation } from "../paper/viewer.js";
import { around, shortened } from "./outcome.js";

const GONE = ["removed", "unreadable", "renamed"];
const OTHERWISE = ["edited", "reparsed"]; // the sentences of the older snapshot are not those of now

export async function changes({ name, params }, { snapshots, snapshot_id: current, questions }) {
  if (!questions.length) return h("p", {}, t("qsNone"));
  if (snapshots.length < 2) return h("p", {}, t("qsOneSnapshot"));
  const ids = snapshots.map((one) => one.snapshot_id);
  const chosen = (side) => (ids.includes(params.get(side)) ? params.get(side) : null);
  const newer = chosen("newer") ?? current;
  const older = chosen("older") ?? ids.find((id) => id < newer) ?? ids.find((id) => id !== newer);
  const found = await json(`/questions/changes?${new URLSearchParams({ collection: name, older, newer })}`);
  return [sides(name, snapshots, current, older, newer), h("p", { role: "status" }, t("qsChanged", found.changed.length, found.questions)), found.changed.map((diff) => answer(diff, name))];
}

function sides(name, snapshots, current, older, newer) {
  const box = (id, chosen) => h("select", { id }, snapshots.map(({ snapshot_id: one, at }) => h("option", { value: one, selected: one === chosen }, `${when(at) || one}${one === current ? ` (${t("qsPublished")})` : ""}`)));
  const [from, to] = [box("qs-older", older), box("qs-newer", newer)];
  const submit = (event) => {
    event.preventDefault();
    location.hash = `#/questions/${encodeURIComponent(name)}/changes?${new URLSearchParams({ older: from.value, newer: to.value })}`;
  };
  return h("form", { class: "row", onsubmit: submit }, h("div", { class: "field" }, h("label", { for: "qs-older" }, t("qsFrom")), from), h("div", { class: "field" }, h("label", { for: "qs-newer" }, t("qsTo")), to), h("button", { type: "submit" }, t("qsShow")));
}

function answer(diff, name) {
  const quotes = new Set(diff.citations.map((one) => one.quote));
  const sentences = diff.sentences.filter((one) => ![...quotes].some((quote) => one.text.includes(quote)));
  const [before, now] = diff.status.map((status) => (["complete", "partial", "abstained"].includes(status) ? t(`status_${status}`) : status));
  return h("section", { class: "answer-changes" }, h("h2", {}, quoted(diff.query)), before === now ? null : h("p", {}, t("qsStatus", before, now)),
    h("ul", { class: "plain" }, diff.citations.map((one) => citation(one, name)),
      sentences.map((one) => h("li", {}, h("p", { class: "change" }, h("span", { class: `badge ${one.change}` }, t(`qsChange_${one.change}`)), ` ${t("qsSentence")}`), h("blockquote", {}, quoted(shortened(one.text, 300))), one.causes.map((cause) => because(cause, name))))));
}

function citation(one, name) {
  const [before, now] = one.page;
  const pages = before && now && before !== now ? t("qsPages", before, now) : (now ?? before) ? t("page", now ?? before) : "";
  const what = one.what.map((word) => t(`qsWhat_${word}`)).join(", ");
  return h("li", {}, h("p", { class: "change" }, h("span", { class: `badge ${one.change}` }, t(`qsChange_${one.change}`)), what ? ` ${what}` : ""), h("blockquote", {}, quoted(shortened(one.quote, 300))),
    h("p", { class: "where" }, place(one, pages, name)), because(one.cause, name));
}

// What was lost has a place only where its paper is as it was.
function place(one, pages, name) {
  const words = [quoted(one.paper_title || one.paper_id), pages ? `, ${pages}` : ""];
  const lost = one.change === "lost";
  if (lost && GONE.includes(one.cause.kind)) return words;
  const there = lost && OTHERWISE.includes(one.cause.kind) ? { sentence_ids: [], spans: [] } : { sentence_ids: one.sentence_ids, spans: one.spans };
  const shown = { paper_id: one.paper_id, paper_title: one.paper_title, page: one.page[1] ?? one.page[0], quote: one.quote, ...there };
  return h("button", { type: "button", class: "link", onclick: (event) => openCitation(shown, name, event.currentTarget) }, words);
}

function because(cause, name) {
  const link = (id) => h("a", { href: `#/paper/${encodeURIComponent(name)}/${encodeURIComponent(id)}` }, quoted(id));
  const papers = cause.documents.map((id, n) => [n ? ", " : "", link(id)]);
  const told = cause.kind === "ranking" ? (papers.length ? around(t("qsCause_others"), papers) : t("qsCause_ranking")) : t(`qsCause_${cause.kind}`);
  return h("p", { class: "dim cause" }, told, cause.detail && ["settings", "reparsed", "renamed"].includes(cause.kind) ? [" (", quoted(cause.detail), ")"] : null);
}
