// What lies beneath the pages of a paper, named above them with how much there is: each leads there.

import { h } from "../dom.js";
import { t } from "../i18n.js";

// `parts` are [name, word] of the parts that the paper has; a part is the element with `id="part-NAME"`.
export function places(parts) {
  return h("ul", { class: "paper-places", "aria-label": t("beneath") }, parts.map(([name, word]) => h("li", {},
    h("button", { type: "button", class: "link", onclick: () => lead(name) }, word))));
}

function lead(name) {
  const part = document.getElementById(`part-${name}`);
  const start = part?.matches("h2") ? part : part?.querySelector("h2, button");
  part?.scrollIntoView({ block: "start" });
  start?.focus({ preventScroll: true });
}
