// How each sentence of an answer stands to its sources, told by the line beneath it, and a legend of those that occur.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import "./words.js";

const KINDS = ["supported", "partly", "contradicted", "not_found", "unchecked", "own"];

// null: quoted word for word from what it cites, or a heading.
export function kindOf(segment, engine) {
  if (segment.heading || !segment.text.trim()) return null;
  if (segment.check) return segment.check.verdict;
  if (segment.citations.length) return engine === "llm" ? "unchecked" : null;
  return /\p{L}{2}/u.test(segment.text) ? "own" : null;
}

export function legend(segments, engine) {
  const there = new Set(segments.map((segment) => kindOf(segment, engine)));
  const kinds = KINDS.filter((kind) => there.has(kind));
  if (!kinds.length) return null;
  const cites = segments.some((segment) => segment.citations.length && kindOf(segment, engine) === null);
  return h("ul", { class: "kinds", "aria-label": t("legend") },
    cites ? h("li", {}, h("span", { class: "said" }, t("said_sample")), " ", t("said_quoted")) : null,
    kinds.map((kind) => h("li", {}, h("span", { class: `said ${kind}` }, t("said_sample")), " ", t(`said_${kind}`))));
}
