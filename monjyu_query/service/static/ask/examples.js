// Questions to begin with, made from what the collection speaks of: its themes where it has some, else its papers.

import { json } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import "./words.js";

const [THEMES, PAPERS] = [3, 2];
const known = new Map();

// In the language of the collection, which is the one that its papers can answer.
const WORDING = {
  en: { theme: (title) => `What do the papers say about ${title}?`, paper: (title) => `What is “${title}” about?` },
  ja: { theme: (title) => `${title}について論文は何を述べていますか。`, paper: (title) => `「${title}」はどのような論文ですか。` },
};

export async function showExamples(place, info, ask) {
  const name = `${info.collection}\n${info.snapshot_id}`;
  if (!known.has(name)) known.set(name, examplesOf(info).catch(() => known.delete(name) && []));
  const found = await known.get(name);
  if (place.dataset.collection !== info.collection) return; // another was chosen meanwhile
  replace(place, found.length ? [h("h2", {}, t("examples")), h("ul", {}, found.map((question) => h("li", {},
    h("button", { type: "button", class: "example", onclick: () => ask(question) }, quoted(question)))))] : null);
}

async function examplesOf(info) {
  const query = new URLSearchParams({ collection: info.collection });
  const [themes, papers] = await Promise.all([
    info.level > 0 ? json(`/themes?${query}&widest=20`).then((found) => found.themes).catch(() => []) : [],
    json(`/library?${query}&limit=30&sort=citations&descending=true`).then((found) => found.papers),
  ]);
  const titles = themes.filter((theme) => theme.papers > 1 && theme.title).slice(0, THEMES).map((theme) => worded("theme", theme.title.split(/[,、] ?/)[0])); // a theme is named by several phrases
  const wanted = PAPERS + THEMES - titles.length;
  const named = papers.filter((paper) => paper.title && paper.title.length < 90 && ["pdf", "image", "docx", "jsonl"].includes(paper.document_type));
  return [...titles, ...(named.length ? named : papers).slice(0, wanted).map((paper) => worded("paper", paper.title))];
}

function worded(kind, title) {
  return WORDING[/[\u3040-\u30ff\u4e00-\u9fff]/.test(title) ? "ja" : "en"][kind](title.replace(/[.。\s]+$/, ""));
}
