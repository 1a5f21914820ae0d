// The words of the view `operate`.

import { addWords } from "../i18n.js";

addWords({
  en: {
    opOnlyAdmins: "This needs an administrator's key.",
    opCollections: "Collections", opLevel: "Level", opPapers: "Papers", opFresh: "State", opPublished: "Published", opCost: "Spent on models", opNone: "There is no collection yet.",
    opCurrent: "up to date", opBehind: "behind", opHeld: "held back", opUnread: (n) => `+ ${n} not readable`, opNoCalls: "no calls", opOfLevel: (level, cost, calls) => `level ${level}: ${cost}, ${calls} calls`,
    opIndex: "Index now", opIndexOf: (name) => `Index ${name} now`, opUpgrade: "Upgrade …", opUpgradeOf: (name) => `Upgrade ${name}`, opUpgradeTo: "To level", opLevelIs: (n) => ["0 · papers, chunks, vectors", "1 · concepts and communities", "2 · entities and relationships", "3 · reports", "4 · claims"][n],
    opUpgradeGo: "Upgrade", opCounting: "Counting what it would take …", opFree: "No model is called: it costs nothing but time.", opCalls: "Calls of models", opTokens: "Tokens (in + out)", opPages: "Pages read by a paid service", opCostAbout: "About", opKept: "The collection then stays at this level.",
    opBegun: (name, level) => `${name} is being brought to level ${level}.`, opBegunOf: (name, level, made, parts) => `${name} is being brought to level ${level}: ${made} of ${parts} parts.`, opDone: (name, level) => `${name} is at level ${level}.`, opRunFailed: (name) => `${name} was not built.`, opSeeRun: "See it in Dagster",
    opRuns: "Last runs", opJob: "Job", opState: "State", opBegan: "Begun", opLasted: "Took", opMinutes: (n) => `${n} min`, opNoRuns: "There was no run yet.", opDagster: "Open Dagster", opNoDagster: "Without Dagster no checks are known.",
    opRun_SUCCESS: "done", opRun_FAILURE: "failed", opRun_STARTED: "running", opRun_QUEUED: "waiting", opRun_STARTING: "starting", opRun_CANCELED: "stopped", opRun_CANCELING: "stopping",
    opChecks: "Checks", opCheck: "Check", opSays: "What it says", opAt: "When", opPassed: "passed", opFailed: "failed", opWarns: "warns", opPending: "not ended", opBackfill: "Backfill", opNoChecks: "No check has run yet.", opAllPassed: (n) => (n === 1 ? "The check passed" : `All ${n} checks passed`), opPassedOnes: (n) => `Those that passed (${n})`,
    opSnapshots: "Snapshots", opSnapshotsOf: "Of ", opMade: "Made", opChunks: "Chunks", opServed: "served", opOnlyOne: "There is only one snapshot, so there is nothing to compare or roll back to.",
    opServe: "Serve this one", opServeOf: (name) => `Serve the one of ${name}`, opServeTitle: "Serve an older snapshot?", opServeSure: (name) => `Readers get the snapshot of ${name} immediately.`, opServeHow: "Later snapshots are served when you serve the newest again.",
    opRelease: "Serve the newest again", opNowHeld: (name) => `Readers now get the snapshot of ${name}.`, opNowNewest: () => "Readers get the newest snapshot again.",
    opDiffers: "What differs between two", opOlder: "Older", opNewer: "Newer", opCompare: "Show what differs", opSame: "Nothing differs.", op_added: (n) => (n === 1 ? "1 paper added" : `${n} papers added`), op_changed: (n) => (n === 1 ? "1 paper changed" : `${n} papers changed`), op_deleted: (n) => (n === 1 ? "1 paper removed" : `${n} papers removed`),
    opOtherTables: (n) => `Other tables (${n})`, opTable: "Rows of", opBefore: "Before", opAfter: "After", opDifference: "Difference",
    opKeys: "Keys", opNoKeys: "There is no key.", opNote: "Note", opNoteHint: "Whose it is, and what for", opRole: "Role", opRole_reader: "reader", opRole_editor: "editor", opRole_admin: "administrator", opEnds: "Ends", opNever: "never", opDays: (n) => `in ${n} days`, opDate: "on a date", opDateMissing: "Choose the date on which it ends.",
    opSees: "Sees", opAll: "all collections", opSeesOnly: "Sees only (default: all collections)", opCreate: "Create a key", opOnce: "Copy it now: it is not shown again.", opCopy: "Copy", opOwn: "yours", opExpired: "expired",
    opRevoke: "Revoke", opRevokeOf: (name) => `Revoke ${name}`, opRevokeTitle: "Revoke a key?", opRevokeSure: (name) => `Requests with “${name}” are refused from now on.`, opRevokeOwn: "This is your own key: without it you lose access.", opRevokeLast: "This is the last key of an administrator: afterwards only “monjyu keys create” on the machine makes another.",
  },
  ja: {
    opOnlyAdmins: "管理者のための画面です。管理者のキーを使ってください。",
    opCollections: "コレクション", opLevel: "レベル", opPapers: "論文", opFresh: "状態", opPublished: "公開日時", opCost: "モデルの費用", opNone: "コレクションはまだありません。",
    opCurrent: "最新", opBehind: "更新待ち", opHeld: "固定中", opUnread: (n) => `ほか ${n} 件は読めません`, opNoCalls: "呼び出しなし", opOfLevel: (level, cost, calls) => `レベル ${level}: ${cost}、${calls} 回`,
    opIndex: "今すぐ索引", opIndexOf: (name) => `${name} を今すぐ索引`, opUpgrade: "レベルを上げる …", opUpgradeOf: (name) => `${name} のレベルを上げる`, opUpgradeTo: "上げる先", opLevelIs: (n) => ["0 · 論文、チャンク、ベクトル", "1 · 概念とコミュニティ", "2 · エンティティと関係", "3 · レポート", "4 · 主張"][n],
    opUpgradeGo: "レベルを上げる", opCounting: "必要な量を数えています …", opFree: "モデルは使いません。かかるのは時間だけです。", opCalls: "モデル呼び出し", opTokens: "トークン（入力 + 出力）", opPages: "有料サービスが読むページ", opCostAbout: "費用の目安", opKept: "以後、コレクションはこのレベルに保たれます。",
    opBegun: (name, level) => `${name} をレベル ${level} にしています。`, opBegunOf: (name, level, made, parts) => `${name} をレベル ${level} にしています: ${made} / ${parts}`, opDone: (name, level) => `${name} はレベル ${level} になりました。`, opRunFailed: (name) => `${name} を構築できませんでした。`, opSeeRun: "Dagster で見る",
    opRuns: "最近の実行", opJob: "ジョブ", opState: "状態", opBegan: "開始", opLasted: "所要時間", opMinutes: (n) => `${n} 分`, opNoRuns: "実行はまだありません。", opDagster: "Dagster を開く", opNoDagster: "Dagster がないため、検査の結果は分かりません。",
    opRun_SUCCESS: "完了", opRun_FAILURE: "失敗", opRun_STARTED: "実行中", opRun_QUEUED: "待機中", opRun_STARTING: "開始中", opRun_CANCELED: "中止", opRun_CANCELING: "中止中",
    opChecks: "検査", opCheck: "検査", opSays: "内容", opAt: "日時", opPassed: "合格", opFailed: "不合格", opWarns: "警告", opPending: "未完了", opBackfill: "バックフィル", opNoChecks: "検査はまだ行われていません。", opAllPassed: (n) => `検査 ${n} 件すべて合格`, opPassedOnes: (n) => `合格した検査（${n}）`,
    opSnapshots: "スナップショット", opSnapshotsOf: "コレクション: ", opMade: "作成", opChunks: "チャンク", opServed: "提供中", opOnlyOne: "一つしかないため、比べる相手も戻る先もありません。",
    opServe: "これを提供", opServeOf: (name) => `${name} のものを提供`, opServeTitle: "以前のスナップショットを提供しますか", opServeSure: (name) => `利用者にはすぐに ${name} のスナップショットが提供されます。`, opServeHow: "その間に公開されたものは、最新に戻すまで待ちます。",
    opRelease: "最新に戻す", opNowHeld: (name) => `${name} のスナップショットを提供しています。`, opNowNewest: () => "最新のスナップショットに戻しました。",
    opDiffers: "二つの違い", opOlder: "古い方", opNewer: "新しい方", opCompare: "違いを見る", opSame: "違いはありません。", op_added: (n) => `追加された論文 ${n} 件`, op_changed: (n) => `変更された論文 ${n} 件`, op_deleted: (n) => `除かれた論文 ${n} 件`,
    opOtherTables: (n) => `ほかの表（${n}）`, opTable: "行の種類", opBefore: "前", opAfter: "後", opDifference: "差",
    opKeys: "キー", opNoKeys: "キーはありません。", opNote: "メモ", opNoteHint: "誰の、何のためのキーか", opRole: "役割", opRole_reader: "閲覧者", opRole_editor: "編集者", opRole_admin: "管理者", opEnds: "期限", opNever: "なし", opDays: (n) => `${n} 日後`, opDate: "日付を指定", opDateMissing: "期限の日付を選んでください。",
    opSees: "見える範囲", opAll: "すべてのコレクション", opSeesOnly: "見えるコレクション（選ばなければすべて）", opCreate: "キーを作る", opOnce: "今コピーしてください。再び表示されません。", opCopy: "コピー", opOwn: "自分のキー", opExpired: "期限切れ",
    opRevoke: "取り消す", opRevokeOf: (name) => `${name} を取り消す`, opRevokeTitle: "キーを取り消しますか", opRevokeSure: (name) => `「${name}」を使う人は、次の要求から拒否されます。`, opRevokeOwn: "これは自分のキーです。取り消すと、この画面に戻れなくなります。", opRevokeLast: "これは最後の管理者のキーです。以後は、サーバー上の「monjyu keys create」でしか作れません。",
  },
});
