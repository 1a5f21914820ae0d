// Under a question that holds a quoted sentence stands a link to where that is looked for.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import "./words.js";

const QUOTE = /["“”„«「『]([^"“”„«»「」『』]{20,})["“”»」』]|[「『]([^「」『』]{8,})[」』]/;

export function offerPlaces(collection) {
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (box.id !== "question") return;
    const found = QUOTE.exec(box.value);
    const there = box.parentElement.querySelector(".quote-offer");
    const quote = found?.[1] ?? found?.[2];
    if (!quote) return void there?.remove();
    const href = `#/locate/${encodeURIComponent(collection())}?${new URLSearchParams({ quote })}`;
    if (there) there.firstElementChild.href = href;
    else box.after(h("p", { class: "quote-offer" }, h("a", { href }, t("locateOffer"))));
  });
}
