// A question before something is done: a dialog of the page, in its words and colours.

import { h } from "./dom.js";
import { t } from "./i18n.js";

// Whether the one who is asked goes on. `body` are elements or texts; `action` is what the button says that does it.
// `prepare(ready)`, where there is one, runs once the dialog is open: the button can be pressed after `ready(true)`.
export function confirmed({ title, body, action, grave = false, prepare = null }) {
  const go = h("button", { type: "button", class: grave ? "grave" : "primary", disabled: Boolean(prepare), onclick: () => dialog.close("go") }, action);
  const back = h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, t("cancel"));
  const dialog = h("dialog", { class: "asking", "aria-labelledby": "asking-title" },
    h("h2", { id: "asking-title" }, title), h("div", { class: "asking-body" }, body), h("div", { class: "row end" }, back, go));
  document.body.append(dialog);
  dialog.showModal();
  (grave || prepare ? back : go).focus();
  prepare?.((ready) => (go.disabled = !ready), dialog);
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "go");
  }, { once: true }));
}
