// Papers brought in by hand: stored, indexed, searchable, each step as it comes.

import { json, request } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { addWords, t } from "../i18n.js";

addWords({
  en: {
    addPapers: "Add papers", dropHere: "Drop files here, or choose them", noUpload: "To add papers you need a key with the role editor. Ask whoever runs this service; `monjyu keys create --role editor` makes one.",
    storing: "Storing …", stored: (n) => `${n} stored`, indexing: (made, all) => `Indexing: ${made} of ${all} parts`, searchable: "Searchable. The list shows the new papers.",
    notIndexed: "The files are stored, but nothing indexes them from here. Run `monjyu index`, or wait for the schedule. ", runFailed: "The indexing failed. Look at the run: ",
  },
  ja: {
    addPapers: "論文を追加", dropHere: "ファイルをここに置くか、選んでください", noUpload: "論文の追加には役割 editor のキーが必要です。運用者に依頼してください（`monjyu keys create --role editor` で作れます）。",
    storing: "保存中 …", stored: (n) => `${n} 件を保存しました`, indexing: (made, all) => `索引付け中: ${made} / ${all}`, searchable: "検索できるようになりました。一覧に表示されています。",
    notIndexed: "ファイルは保存されましたが、ここからは索引付けできません。`monjyu index` を実行するか、予定された実行をお待ちください。", runFailed: "索引付けに失敗しました。実行の記録: ",
  },
});

export function upload({ name: collection, who, signal }, done) {
  if (!["editor", "admin"].includes(who.role)) return h("details", {}, h("summary", {}, t("addPapers")), h("p", { class: "dim" }, t("noUpload")));
  const steps = h("ol", { role: "status" });
  const files = h("input", { id: "upload", type: "file", multiple: true, onchange: () => send([...files.files]) });
  const step = (...words) => steps.append(h("li", {}, words));
  const send = async (given) => {
    if (!given.length) return;
    replace(steps);
    step(t("storing"));
    try {
      const form = new FormData();
      form.append("collection", collection);
      for (const file of given) form.append("files", file);
      const held = await (await request("/admin/papers", { method: "POST", body: form })).json();
      step(t("stored", held.files.filter((one) => one.outcome !== "refused").length));
      for (const one of held.files) if (one.message) step(quoted(one.name), ": ", one.message);
      await index();
    } catch (error) {
      step(h("span", { class: "error" }, error.message));
    }
  };
  const index = async () => {
    let begun;
    try {
      begun = await (await request("/admin/index", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection }) })).json();
    } catch (error) {
      step(t("notIndexed"), h("span", { class: "dim" }, error.message));
      return;
    }
    const line = h("li", {});
    steps.append(line);
    while (!signal.aborted) {
      const state = await json(`/admin/index?${new URLSearchParams({ collection, backfill_id: begun.backfill_id })}`);
      replace(line, t("indexing", state.made, state.parts));
      if (state.state === "failed") step(h("span", { class: "error" }, t("runFailed")), quoted(state.url), " ", quoted(state.cause));
      if (state.state === "done") { step(t("searchable")); done(); }
      if (state.state !== "running") return;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  };
  const box = h("div", { class: "drop" }, h("label", { for: "upload" }, t("dropHere")), " ", files);
  box.addEventListener("dragover", (event) => event.preventDefault());
  box.addEventListener("drop", (event) => { event.preventDefault(); send([...event.dataTransfer.files]); });
  return h("details", {}, h("summary", {}, t("addPapers")), box, steps);
}
