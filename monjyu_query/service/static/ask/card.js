// The card of a citation: who wrote it, when, where it stands, and the quote among the sentences around it. It shows on
// hover and on focus, and at the first touch; it moves nothing, stays while it is pointed at, and Escape puts it away.

import { json, paperPath } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { loadPaper } from "../paper/viewer.js";
import "./words.js";

const [OPEN_AFTER, CLOSE_AFTER, EDGE] = [180, 220, 8]; // ms, ms, px
const [LONGEST_AROUND, LONGEST_QUOTE] = [220, 600];
const contexts = new Map();
const card = h("div", { id: "citation-card", class: "card", hidden: true });
let owner = null;
let timer = 0;
let hushed = false;

export function withCard(marker, citation, collection, names) {
  const open = () => show(marker, citation, collection, names);
  marker.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && later(open, OPEN_AFTER));
  marker.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && later(hide, CLOSE_AFTER));
  marker.addEventListener("focus", () => marker.matches(":focus-visible") && !hushed && open());
  marker.addEventListener("blur", () => later(hide, CLOSE_AFTER));
  marker.addEventListener("click", (event) => {
    if (event.pointerType !== "touch" || owner === marker) return hide();
    event.stopImmediatePropagation(); // a first touch shows the card, a second opens the page
    open();
  }, { capture: true });
  return marker;
}

function later(work, delay) {
  clearTimeout(timer);
  timer = setTimeout(work, delay);
}

function hide() {
  clearTimeout(timer);
  card.hidden = true;
  owner?.removeAttribute("aria-describedby");
  owner = null;
}

async function show(marker, citation, collection, names) {
  clearTimeout(timer);
  if (!marker.isConnected) return;
  if (!card.isConnected) document.getElementById("main").after(card);
  owner?.removeAttribute("aria-describedby");
  owner = marker;
  marker.setAttribute("aria-describedby", card.id);
  fill(marker, citation, names?.get(citation.paper_id), null);
  const [about, around] = await Promise.all([
    names?.get(citation.paper_id) ?? aboutPaper(citation, collection), contextOf(citation, collection),
  ]).catch(() => [names?.get(citation.paper_id), null]);
  if (owner === marker) fill(marker, citation, about, around);
}

function fill(marker, citation, about, around) {
  const authors = about?.authors?.length > 3 ? t("etAl", about.authors[0]) : (about?.authors ?? []).join(", ");
  replace(card,
    h("p", { class: "card-title" }, quoted(citation.paper_title || citation.paper_id), citation.retracted ? h("span", { class: "badge" }, t("retracted")) : null),
    h("p", { class: "dim" }, [authors, about?.year, citation.page ? t("page", citation.page) : null].filter(Boolean).join(" · ")),
    h("blockquote", {},
      around?.before ? h("span", { class: "dim" }, `${cut(around.before, -LONGEST_AROUND)} `) : null,
      h("mark", {}, cut(citation.key && citation.quote.length > LONGEST_QUOTE ? citation.key : citation.quote, LONGEST_QUOTE)),
      around?.after ? h("span", { class: "dim" }, ` ${cut(around.after, LONGEST_AROUND)}`) : null),
    h("p", { class: "card-hint dim", "aria-hidden": "true" }, t("cardHint")));
  card.hidden = false;
  place(marker.getBoundingClientRect());
}

// Beneath the marker, or above it where there is more room; always inside the window.
function place(at) {
  const [width, height] = [card.offsetWidth, card.offsetHeight];
  const below = innerHeight - at.bottom > height + 2 * EDGE || innerHeight - at.bottom > at.top;
  const top = below ? at.bottom + EDGE / 2 : at.top - height - EDGE / 2;
  card.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`;
  card.style.left = `${Math.max(EDGE, Math.min(at.left - 24, innerWidth - width - EDGE))}px`;
}

// What has the focus may have been scrolled into view by it; what is only pointed at is left behind.
function follow() {
  const at = owner.getBoundingClientRect();
  if (owner === document.activeElement && at.top > 0 && at.bottom < innerHeight) place(at);
  else hide();
}

function cut(text, most) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= Math.abs(most)) return line;
  return most < 0 ? `… ${line.slice(most).replace(/^\S*\s/, "")}` : `${line.slice(0, most).replace(/\s\S*$/, "")} …`;
}

async function aboutPaper(citation, collection) {
  const paper = await loadPaper(citation.paper_id, collection);
  return { authors: paper.authors.map((one) => one.name), year: paper.publication_date?.slice(0, 4) };
}

// The sentences before and after the quote; nothing where the paper says something else there by now.
function contextOf(citation, collection) {
  if (!citation.sentence_ids?.length) return null;
  const name = `${collection}\n${citation.sentence_ids.join("\n")}`;
  if (!contexts.has(name)) {
    if (contexts.size > 200) contexts.clear();
    contexts.set(name, around(citation, collection).catch((error) => {
      contexts.delete(name);
      throw error;
    }));
  }
  return contexts.get(name);
}

async function around(citation, collection) {
  const query = new URLSearchParams([["collection", collection], ["around", 1], ...citation.sentence_ids.slice(0, 50).map((id) => ["sentence_id", id])]);
  const { sentences } = await json(paperPath(citation.paper_id, `/sentences?${query}`));
  const places = citation.sentence_ids.map((id) => sentences.findIndex((one) => one.sentence_id === id));
  if (places.includes(-1)) return null;
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const bare = (text) => text.replace(/\s+/g, "");
  if (bare(sentences.slice(first, last + 1).map((one) => one.text).join("")) !== bare(citation.quote)) return null;
  return { before: sentences[first - 1]?.text, after: sentences[last + 1]?.text };
}

card.addEventListener("pointerenter", () => clearTimeout(timer));
card.addEventListener("pointerleave", () => later(hide, CLOSE_AFTER));
addEventListener("scroll", (event) => !card.hidden && event.target !== card && follow(), { passive: true, capture: true });
addEventListener("hashchange", hide);
addEventListener("pointerdown", (event) => !card.hidden && !card.contains(event.target) && event.target !== owner && hide(), { capture: true });
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hushed = true; // what gets the focus back when something closes shows no card
  setTimeout(() => (hushed = false));
  if (card.hidden) return;
  hide();
  event.stopImmediatePropagation(); // one Escape, one thing
}, { capture: true });
