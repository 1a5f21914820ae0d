// The question of an answer that is to be saved, until the form has saved it.

let waiting = null;

// As the form takes it: `papers` are those that the answer cites, each with its places.
export function keepDraft(result, asked) {
  const papers = new Map();
  for (const { paper_id: id, paper_title: title, page, quote } of result.citations) {
    if (!papers.has(id)) papers.set(id, { paper: id, title, places: [] });
    papers.get(id).places.push({ page, text: quote });
  }
  const restricted = Object.values(asked?.filters ?? {}).some((value) => (Array.isArray(value) ? value.length : value));
  waiting = {
    collection: result.collection, text: result.resolved_query ?? result.query, mode: asked?.mode ?? "auto", budget: asked?.budget ?? null,
    papers: [...papers.values()], abstained: result.status === "abstained", restricted,
  };
}

export function draftFor(collection) {
  return waiting?.collection === collection ? waiting : null;
}

export function dropDraft() {
  waiting = null;
}
