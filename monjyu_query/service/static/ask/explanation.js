// How a lazy search went: why it ended, what its subqueries found, the best sentences, and the concepts they speak of.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { communitiesMap } from "./communities.js";
import { conceptsPicture } from "./concepts.js";

const SENTENCES = 12;

export function explanation(lazy, collection) {
  const rows = lazy.subqueries.map((one) => h("tr", {}, h("td", {}, quoted(one.text)), h("td", {}, String(one.tests)), h("td", {}, String(one.relevant))));
  return h("details", { class: "explanation" }, h("summary", {}, t("howLazy")),
    lazy.communities.length ? [h("h4", {}, t("lookedAt")), communitiesMap(lazy.communities, collection)] : null,
    h("div", { class: "answer-table", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, [t("subqueries"), t("tested"), t("relevant")].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows))),
    lazy.graph.nodes.length > 1 ? [h("h4", {}, t("concepts")), conceptsPicture(lazy.graph)] : null,
    lazy.sentences.length ? [h("h4", {}, t("bestSentences")),
      h("ol", {}, lazy.sentences.slice(0, SENTENCES).map((one) => h("li", {}, quoted(one.text),
        h("span", { class: "dim" }, ` ${one.score.toFixed(1)}${one.reason ? ` · ${one.reason}` : ""}`))))] : null);
}
