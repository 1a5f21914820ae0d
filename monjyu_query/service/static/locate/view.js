// The view `locate`: where a pasted sentence stands. `#/locate/COLLECTION?quote=...`

import { post } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { openCitation } from "../paper/viewer.js";
import "../draft/words.js";
import "./words.js";

const MOST_CHARACTERS = 5000;

export function show({ name, params, signal }) {
  const quote = h("textarea", { id: "quote", rows: 3, maxlength: MOST_CHARACTERS, spellcheck: "false" });
  const found = h("div", { class: "places" });
  const said = h("p", { role: "status", class: "dim" });
  let turn = 0;
  const look = async () => {
    const text = quote.value.trim();
    if (!text) return;
    const mine = (turn += 1);
    history.replaceState(null, "", `#/locate/${encodeURIComponent(name)}?${new URLSearchParams({ quote: text })}`);
    replace(said, t("locateLooking"));
    replace(found);
    try {
      const { places } = await post("/locate", { quote: text, collection: name }, signal);
      if (mine !== turn) return;
      replace(said, places.length ? t("locateFound", places.length) : t("locateNone"));
      replace(found, places.length ? h("ol", { class: "plain" }, places.map((place) => placeOf(place, name))) : null);
    } catch (error) {
      if (mine !== turn || error.name === "AbortError") return;
      replace(said);
      replace(found, h("p", { class: "error", role: "alert" }, error.message));
    }
  };
  quote.value = params.get("quote") ?? "";
  quote.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    look();
  });
  look();
  return h("div", { class: "column locate" }, h("h1", { tabindex: "-1" }, t("locate")), h("p", { class: "dim" }, t("locateLine")),
    h("form", { onsubmit: (event) => { event.preventDefault(); look(); } },
      h("label", { for: "quote", class: "unseen" }, t("locateQuote")), quote, h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("locateGo")), said)),
    h("p", { class: "quote-offer" }, h("a", { href: `#/draft/${encodeURIComponent(name)}` }, t("draftOffer"))), found);
}

export function arrived(element) {
  element.querySelector("#quote").focus({ preventScroll: true });
}

function placeOf(place, collection) {
  const title = place.paper_title || place.paper_id;
  const like = place.score >= 0.9995 ? t("locateExact") : t("locateLike", Math.floor(place.score * 100));
  const open = h("button", { type: "button", class: "link title", "aria-label": t("locateOpen", title), onclick: () => openCitation({ ...place, quote: place.text }, collection, open) }, quoted(title));
  return h("li", {}, open, h("p", { class: "dim" }, [place.page ? t("page", place.page) : null, like].filter(Boolean).join(" · ")), h("blockquote", {}, "… ", quoted(place.text), " …"));
}
