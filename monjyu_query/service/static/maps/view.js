// The view `maps`: citations and concepts of the collection as pictures, with a table as their equal.

import { h } from "../dom.js";
import { t } from "../i18n.js";

export function show() {
  return h("div", { class: "column" }, h("h1", { tabindex: "-1" }, t("maps")));
}
