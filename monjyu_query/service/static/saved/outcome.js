// What a snapshot's answer is worth, in words.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";

// `outcome`: null where the question was not asked. It may be asked whether anything is expected.
export function verdict(question, outcome) {
  if (!outcome) return h("span", { class: "state" }, t("qsNotAsked"));
  if (outcome.failures.length) return h("span", { class: "state bad" }, t("qsFails"));
  return h("span", { class: "state good" }, t(expectsNothing(question.expect) ? "qsAnswered" : "qsHolds"));
}

export function failures(question, found, titles) {
  if (!found.length) return null;
  return h("ul", { class: "failures" }, found.map((one) => h("li", {}, failed(question, one, titles))));
}

function failed({ expect }, { expectation, detail, about }, titles) {
  const paper = quoted(titles[about] ?? about);
  switch (expectation) {
    case "must_cite": {
      const placed = expect.must_cite.some((place) => place.paper === about && (place.page || place.text));
      return around(t(placed ? "qsNotThere" : "qsNotCited"), paper);
    }
    case "must_not_cite": return around(t("qsIsCited"), paper);
    case "must_mention": return around(t("qsNotSaid"), quoted(about));
    case "must_abstain": return t("qsNotAbstained");
    case "min_papers": return t("qsFewPapers", about, expect.min_papers);
    case "same_answer": return [t("qsOther"), " ", h("span", { class: "dim" }, quoted(detail))];
    default: return [t("qsFailed"), " ", quoted(detail)];
  }
}

// What is expected, a line each.
export function expected({ expect }, titles, collection) {
  const paper = (id) => h("a", { href: `#/paper/${encodeURIComponent(collection)}/${encodeURIComponent(id)}` }, quoted(titles[id] ?? id));
  const lines = [
    ...expect.must_cite.map((place) => [around(t("qsCites"), [paper(place.paper), place.page ? ` (${t("page", place.page)})` : null]), place.text ? [": “", quoted(shortened(place.text)), "”"] : null]),
    ...expect.must_not_cite.map((id) => around(t("qsCitesNot"), paper(id))),
    ...expect.must_mention.map((words) => around(t("qsSays"), quoted(words))),
    expect.min_papers ? t("qsMinPapers", expect.min_papers) : null, expect.same_answer ? t("qsSame") : null, expect.must_abstain ? t("qsAbstains") : null,
  ].filter(Boolean);
  return lines.length ? h("ul", { class: "expected" }, lines.map((line) => h("li", {}, line))) : h("p", { class: "dim" }, t("qsNothingExpected"));
}

function expectsNothing(expect) {
  return !expect.must_cite.length && !expect.must_not_cite.length && !expect.must_mention.length && !expect.min_papers && !expect.same_answer && !expect.must_abstain;
}

export function shortened(text, most = 120) {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > most ? `${plain.slice(0, most)} …` : plain;
}

// A sentence with a place for what it is about: "%" in it.
export function around(sentence, what) {
  const [before, after] = sentence.split("%");
  return [before, what, after];
}
