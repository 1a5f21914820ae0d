// What the service declares of a question and of exports, which the page is served with. FILTERS: `Filters` in
// search/request.py as `{ name, one, kind, many, choices, labels }`; FORMS: formats as `{ name, label, ending }` by what is exported.

export const { filters: FILTERS, budgets: BUDGETS, forms: FORMS } = JSON.parse(document.getElementById("declared").textContent);
