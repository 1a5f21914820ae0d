// The view `questions`: the saved questions of a collection, whether its answers are as expected, and what changed.
//
// `#/questions/COLLECTION`, `…/new`, `…/edit/ID`, `…/changes?older=SNAPSHOT&newer=SNAPSHOT`

import { isEditor, json } from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { editorNeeded } from "../editor.js";
import { address } from "./address.js";
import { changes } from "./changes.js";
import { questionForm } from "./form.js";
import { QuestionList } from "./list.js";
import "./words.js";

export async function show(context, part, id) {
  const { name, who } = context;
  const listing = await json(`/questions?${new URLSearchParams({ collection: name })}`);
  const editing = part === "new" || (part === "edit" && listing.questions.find((one) => one.id === id));
  if (editing && isEditor(who)) return page(context, "edit", t(part === "new" ? "qsNew" : "qsEdit"), questionForm(context, listing, editing === true ? null : editing));
  if (part === "changes") return page(context, "changes", t("qsChanges"), await changes(context, listing));
  const list = new QuestionList(context, listing);
  return page(context, "list", t("savedQuestions"), h("p", { class: "dim" }, t("qsLine")), editing || !isEditor(who) ? editorNeeded(context, t("qsEditor")) : null, list.element);
}

export function arrived(element) {
  const wanted = element.querySelector("[data-first]");
  wanted?.focus({ preventScroll: !wanted.matches("li") });
}

function page({ name }, kind, title, ...content) {
  const back = kind === "list" ? null : h("a", { class: "back", href: address(name) }, `‹ ${t("savedQuestions")}`);
  return h("article", { class: "column saved-questions" }, back, h("h1", { tabindex: "-1" }, title), content);
}
