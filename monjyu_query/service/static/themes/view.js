// The view `themes`: reports of communities as a tree.

import { h } from "../dom.js";
import { t } from "../i18n.js";

export function show() {
  return h("div", { class: "column" }, h("h1", { tabindex: "-1" }, t("themes")));
}
