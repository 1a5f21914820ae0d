// Work that takes a while: it shows that it goes on and for how long, can be stopped, and tells what went wrong.

import { post } from "../api.js";
import { coded, h, replace, say } from "../dom.js";
import { t } from "../i18n.js";

export function listed(text) {
  return text.split(/[,、;，；\n]/).map((name) => name.trim()).filter(Boolean);
}

export class Running {
  // `place` is where progress, results and errors are shown; `leaving` is aborted when the view is left.
  constructor(place, leaving) {
    this.place = place;
    leaving.addEventListener("abort", () => this.stop());
  }

  stop() {
    this.mine?.abort();
  }

  // `show(digest)` gives what is shown of the result. What was under way before is stopped.
  async run(path, body, show, told = t("compare_reading")) {
    this.stop();
    const mine = (this.mine = new AbortController());
    const ending = this.progress(told);
    try {
      const digest = await post(path, body, mine.signal);
      if (mine !== this.mine || mine.signal.aborted) return;
      replace(this.place, show(digest));
      say(t("answered"));
    } catch (error) {
      if (mine !== this.mine) return;
      const stopped = error.name === "AbortError";
      replace(this.place, h("div", { class: "column told" }, h("p", { class: stopped ? "dim" : "error", role: "alert" }, stopped ? t("compare_stopped") : coded(error.message)),
        h("button", { type: "button", onclick: () => this.run(path, body, show, told) }, t("again"))));
    } finally {
      ending();
    }
  }

  progress(told) {
    const begun = Date.now();
    const seconds = h("span", { class: "dim" });
    const tick = setInterval(() => (seconds.textContent = t("compare_elapsed", Math.round((Date.now() - begun) / 1000))), 1000);
    replace(this.place, h("div", { class: "column told" },
      h("div", { class: "working" }, h("span", { class: "spinner", "aria-hidden": "true" }), h("span", { role: "status" }, told), seconds, h("button", { type: "button", class: "small", onclick: () => this.stop() }, t("stop"))),
      h("div", { class: "coming", "aria-hidden": "true" }, [90, 75, 85, 60, 75].map((width) => h("span", { class: `skeleton w${width}` })))));
    return () => clearInterval(tick);
  }
}
