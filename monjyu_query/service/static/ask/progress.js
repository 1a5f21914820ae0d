// A lazy search at work: its subqueries, the budget, every test as a mark, the claims as they arrive.

import { h, replace, say } from "../dom.js";
import { t } from "../i18n.js";

const SHOWN = 6;

export class Progress {
  constructor() {
    this.used = 0;
    this.total = 0;
    this.relevant = 0;
    this.communities = new Set();
    this.claims = [];
    this.bar = h("progress", { max: 1, value: 0, "aria-label": t("budget") });
    this.numbers = h("p", { class: "numbers" });
    this.subqueries = h("ol", { class: "subqueries" });
    this.marks = h("div", { class: "marks", "aria-hidden": "true" });
    this.claimList = h("ul", { class: "claims" });
    this.claimTitle = h("h3", { hidden: true });
    this.summary = h("summary", {}, h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, t("searching")));
    this.element = h("details", { class: "progress", open: true }, this.summary,
      h("div", { class: "inside" }, this.subqueries, this.bar, this.numbers, this.marks, this.claimTitle, this.claimList));
    this.seen = false;
  }

  heard(event) {
    this.seen = true;
    if (event.event === "subquery") this.subqueries.append(h("li", {}, event.text));
    else if (event.event === "community") this.communities.add(event.community_id);
    else if (event.event === "test") this.test(event);
    else if (event.event === "budget") this.spent(event);
    else if (event.event === "claim") this.claim(event);
    this.count();
  }

  // Who cannot see the bar hears of every quarter.
  spent(event) {
    const quarter = (used) => Math.floor((4 * used) / event.total);
    const before = this.total ? quarter(this.told ?? 0) : 0;
    [this.used, this.total] = [event.used, event.total];
    if (quarter(this.used) > before) {
      this.told = this.used;
      say(t("spent", this.used, this.total));
    }
  }

  test(event) {
    this.used += 1;
    this.tested = true; // not of a search that was answered from what is kept
    if (event.relevant) this.relevant += 1;
    const kind = event.error ? "error" : event.relevant ? "relevant" : event.score >= 3 ? "near" : "none";
    this.marks.append(h("i", { class: kind }));
  }

  claim(event) {
    this.claims.push(event);
    this.claimTitle.hidden = false;
    this.claimTitle.textContent = t("claims", this.claims.length);
    const item = h("li", { class: this.claims.length > SHOWN ? "late" : null }, event.statement);
    this.claimList.append(item);
    if (this.claims.length === SHOWN + 1) {
      this.all = h("button", { type: "button", class: "quiet small", onclick: () => this.showAll() });
      this.claimList.after(this.all);
    }
    if (this.all) this.all.textContent = t("moreClaims", this.claims.length);
  }

  showAll() {
    this.claimList.classList.add("all");
    this.all.remove();
  }

  count() {
    if (this.total) {
      this.bar.max = this.total;
      this.bar.value = this.used;
    }
    const parts = [this.total ? t("spent", this.used, this.total) : null, this.communities.size ? t("communities", this.communities.size) : null, this.tested ? t("relevantFound", this.relevant) : null];
    this.numbers.textContent = parts.filter(Boolean).join(" · ");
  }

  end() {
    this.summarise();
    this.element.open = false;
    if (!this.seen) this.element.remove();
  }

  // In the language of now; what was derived and claimed stays as it was said.
  relabel() {
    this.count();
    if (this.claims.length) this.claimTitle.textContent = t("claims", this.claims.length);
    if (this.all) this.all.textContent = t("moreClaims", this.claims.length);
    this.bar.setAttribute("aria-label", t("budget"));
    this.summarise();
  }

  summarise() {
    replace(this.summary, h("span", {}, t("how")), h("span", { class: "dim" }, ` ${this.numbers.textContent}`));
    this.element.classList.add("ended");
  }
}
