// The papers chosen in the library, and what can be done with them.

import { request } from "../api.js";
import { FORMS } from "../declared.js";
import { h, replace, saved } from "../dom.js";
import { t } from "../i18n.js";

export const MOST = 200;

// `chosen` maps ids to titles; `changed` is called after each change; `lead()` goes to what can be done with them.
export function selection(collection, ask, changed) {
  const chosen = new Map();
  const bar = h("div", { class: "row chosen-papers", hidden: true });
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const file = (ids, { name, label, ending }) => h("button", { type: "button", class: "small", "aria-label": t("exportAs", label), onclick: () => saved(
    () => request(`/bibliography?${new URLSearchParams([["collection", collection], ["format", name], ...ids.map((id) => ["paper_id", id])])}`), `${collection}.${ending}`, failed) }, label);
  const show = () => {
    changed();
    const ids = [...chosen.keys()];
    bar.hidden = !ids.length;
    const label = ids.length === 1 ? [...chosen.values()][0] : t("papersOf", ids.length);
    const asked = ids.map((id) => `papers=${encodeURIComponent(id)}`).join("&");
    replace(bar, h("span", { role: "status" }, t("selected", ids.length)),
      h("button", { type: "button", class: "small primary", onclick: () => ask({ paper_ids: ids }, label) }, t("askThese")),
      ids.length > 1 && ids.length < 6 ? h("a", { href: `#/compare/${encodeURIComponent(collection)}?${asked}` }, t("compareThese")) : null,
      FORMS.bibliography.map((form) => file(ids, form)),
      h("button", { type: "button", class: "small", onclick: () => { chosen.clear(); show(); } }, t("selectNone")),
      h("span", { class: "dim keys" }, t("selectKeys")));
  };
  const set = (paper, wanted) => {
    if (!wanted) chosen.delete(paper.paper_id);
    else if (chosen.size < MOST) chosen.set(paper.paper_id, paper.title || paper.paper_id);
  };
  const lead = () => bar.querySelector("button")?.focus();
  return { chosen, element: [bar, failed], show, set, lead };
}
