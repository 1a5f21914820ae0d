// What the parts of the view `operate` have in common.

import { h, replace } from "../dom.js";
import { currentLanguage, t } from "../i18n.js";

export function when(time) {
  return time ? new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(time)) : "";
}

export function dollars(cost) {
  return `$${cost.toFixed(cost && cost < 0.01 ? 4 : 2)}`;
}

export function table(heads, rows, label) {
  return h("div", { class: "data-table", tabindex: "0", role: "region", "aria-label": label }, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((one) => (one ? h("th", { scope: "col" }, t(one)) : h("td"))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, n) => h("td", { "data-name": heads[n] ? t(heads[n]) : null }, h("div", {}, cell))))))));
}

export function state(word, kind) {
  return h("span", { class: `state ${kind}` }, word);
}

export function link(url, text) {
  return h("a", { href: url, target: "_blank", rel: "noreferrer" }, text, h("span", { "aria-hidden": "true" }, " ↗"));
}

// A part with a heading that fills itself; what goes wrong in it is said in it.
export class Part {
  constructor(title, signal) {
    this.signal = signal;
    this.failed = h("p", { class: "error", role: "alert", hidden: true });
    this.done = h("p", { class: "done", role: "status", hidden: true });
    this.body = h("div", {}, ["w90", "w75"].map((width) => h("span", { class: `skeleton ${width}` })));
    this.element = h("section", {}, h("h2", {}, t(title)), this.body, this.failed, this.done);
  }

  fill(...content) {
    replace(this.body, content);
  }

  // What is loaded for it, and how that is shown.
  async load(asked, shown) {
    try {
      const found = await asked();
      if (!this.signal.aborted) this.fill(shown(found));
    } catch (error) {
      if (!this.signal.aborted) this.fill(h("p", { class: "error" }, error.message));
    }
  }

  tell(...content) {
    this.done.hidden = false;
    replace(this.done, content);
  }

  fail(...content) {
    this.done.hidden = true;
    this.failed.hidden = false;
    replace(this.failed, content);
  }

  // A button's work: pressed meanwhile, it does nothing. It is not disabled, since it would lose the focus.
  act(work) {
    return async (event) => {
      const button = event.currentTarget;
      if (button.ariaBusy === "true") return;
      button.ariaBusy = "true";
      this.failed.hidden = this.done.hidden = true;
      try {
        await work(button);
      } catch (error) {
        this.fail(error.message);
      } finally {
        button.ariaBusy = null;
      }
    };
  }

  button(word, work, name = null) {
    return h("button", { type: "button", class: "small", "aria-label": name, onclick: this.act(work) }, word);
  }
}
