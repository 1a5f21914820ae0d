// What the service declares of a question, the library and exports, which the page is served with. FILTERS: `Filters` in
// asking/request.py as `{ name, one, kind, many, choices, labels }`; FACETS: filters of the library as `{ name, kind, searched }`;
// FORMS: formats as `{ name, label, ending }` by what is exported.

export const { filters: FILTERS, budgets: BUDGETS, facets: FACETS, forms: FORMS } = JSON.parse(document.getElementById("declared").textContent);
