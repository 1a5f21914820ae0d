// Papers chosen by typing: a box with the papers found below it, and the chosen ones as chips.

import { json } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";

const PAUSE = 180; // milliseconds after the last letter
const SHOWN = 8;

export class Picker {
  constructor(collection, most, chosen, changed) {
    Object.assign(this, { collection, most, chosen, changed, found: [], at: -1, turn: 0 });
    this.list = h("ul", { id: "pick-list", role: "listbox", "aria-label": t("compare_pick"), hidden: true });
    this.box = h("input", {
      id: "pick", type: "text", role: "combobox", autocomplete: "off", maxlength: 200, "aria-expanded": "false", "aria-controls": "pick-list", "aria-autocomplete": "list", placeholder: t("compare_pick"),
      oninput: () => this.later(), onkeydown: (event) => this.key(event), onclick: () => this.later(0), onblur: () => setTimeout(() => this.close(), 150),
    });
    this.note = h("p", { class: "dim", hidden: true });
    this.chips = h("ul", { class: "chips picked", "aria-label": t("compare_selected") });
    this.element = h("div", { class: "picker" }, h("div", { class: "field" }, h("label", { for: "pick" }, t("compare_pick")), this.box, this.list), this.note, this.chips);
    this.draw();
  }

  later(pause = PAUSE) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), pause);
  }

  async look() {
    const mine = (this.turn += 1);
    if (this.chosen.length >= this.most) return this.close();
    const query = new URLSearchParams({ collection: this.collection, text: this.box.value, limit: SHOWN + this.chosen.length });
    const found = await json(`/papers?${query}`).catch(() => null);
    if (mine !== this.turn || !found || document.activeElement !== this.box) return null;
    this.found = found.papers.filter((paper) => !this.chosen.some((one) => one.paper_id === paper.paper_id)).slice(0, SHOWN);
    this.at = this.found.length && this.box.value.trim() ? 0 : -1;
    this.offer();
    if (this.box.value.trim()) say(this.found.length ? t("compare_found", found.total) : t("compare_pick_none"));
    return null;
  }

  offer() {
    const options = this.found.map((paper, place) => h("li", { id: `pick-${place}`, role: "option", "aria-selected": String(place === this.at), onmousedown: (event) => event.preventDefault(), onclick: () => this.take(paper) },
      quoted(paper.title || paper.paper_id), h("span", { class: "dim" }, [paper.authors[0], paper.authors.length > 1 ? " …" : "", paper.year ? ` (${paper.year})` : ""].join(""))));
    replace(this.list, options.length ? options : h("li", { class: "dim", role: "option", "aria-disabled": "true" }, t("compare_pick_none")));
    this.list.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
    this.point();
  }

  point() {
    [...this.list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === this.at)));
    if (this.at < 0) this.box.removeAttribute("aria-activedescendant");
    else {
      this.box.setAttribute("aria-activedescendant", `pick-${this.at}`);
      this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
    }
  }

  key(event) {
    if (event.isComposing) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && !this.list.hidden && this.found.length) {
      event.preventDefault();
      this.at = (this.at + steps[event.key] + this.found.length) % this.found.length;
      this.point();
    } else if (event.key === "ArrowDown") this.later(0);
    else if (event.key === "Enter" && !this.list.hidden && this.at >= 0) {
      event.preventDefault();
      this.take(this.found[this.at]);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Backspace" && !this.box.value && this.chosen.length) this.drop(this.chosen.at(-1));
  }

  close() {
    this.turn += 1;
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
    return null;
  }

  take(paper) {
    if (this.chosen.length >= this.most) return;
    this.chosen.push(paper);
    this.box.value = "";
    this.close();
    this.draw();
    say(t("compare_picked", paper.title));
    this.changed();
  }

  drop(paper) {
    this.chosen.splice(this.chosen.indexOf(paper), 1);
    this.draw();
    say(t("compare_unpicked", paper.title));
    this.box.focus();
    this.changed();
  }

  draw() {
    const full = this.chosen.length >= this.most;
    this.note.hidden = !full;
    this.note.textContent = full ? t("compare_pick_most") : "";
    replace(this.chips, this.chosen.map((paper) => h("li", {}, h("span", { class: "chip" }, quoted(paper.title || paper.paper_id),
      h("button", { type: "button", class: "quiet remove", "aria-label": t("compare_unpick", paper.title || paper.paper_id), onclick: () => this.drop(paper) }, "×")))));
  }
}
