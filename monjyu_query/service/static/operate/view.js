// The view `operate`: what administrators see and do. An administrator of some collections sees those, and no keys.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { collectionsPart } from "./collections.js";
import { dagsterParts } from "./dagster.js";
import { keysPart } from "./keys.js";
import { snapshotsPart } from "./snapshots.js";
import "./words.js";

export function show(context) {
  const { name, who } = context;
  const heading = h("h1", { tabindex: "-1" }, t("operate"));
  if (who.role !== "admin") return h("div", { class: "column" }, heading, h("p", {}, t("opOnlyAdmins")));
  const dagster = dagsterParts(context);
  return h("div", { class: "operate" }, heading, collectionsPart(context, dagster.begun), dagster.elements,
    name ? snapshotsPart(context) : null, who.collections ? null : keysPart(context));
}
