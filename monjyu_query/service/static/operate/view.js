// The view `operate`: what administrators see and do.

import { h } from "../dom.js";
import { t } from "../i18n.js";

export function show() {
  return h("div", { class: "column" }, h("h1", { tabindex: "-1" }, t("operate")));
}
