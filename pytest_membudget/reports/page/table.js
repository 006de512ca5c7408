"use strict";
// Texts of a run go into the page as text nodes and never as markup, whatever a test is called.

const details = JSON.parse(document.getElementById("details").textContent);
const table = document.querySelector("main > table");
// Rows that are laid out at once: the browser keeps up with these in a run of any size, and more follow on scrolling.
const STEP = 300;

if (table) {
  const headers = [...table.tHead.rows[0].cells];
  const view = { rows: [...table.tBodies[0].rows], filter: pressed().dataset.filter, query: "", limit: STEP };
  markRoles(view.rows);
  watchHeaders(view, headers);
  watchFilters(view);
  watchEnd(view);
  watchRows();
  show(view);
}

// A narrow window lays rows out as cards, and a browser then no longer takes them for a table.
function markRoles(rows) {
  table.setAttribute("role", "table");
  for (const part of [table.tHead, table.tBodies[0]]) part.setAttribute("role", "rowgroup");
  for (const row of [table.tHead.rows[0], ...rows]) {
    row.setAttribute("role", "row");
    for (const cell of row.cells) cell.setAttribute("role", { col: "columnheader", row: "rowheader" }[cell.scope] ?? "cell");
  }
}

function show(view) {
  const query = view.query.toLowerCase();
  let matches = 0;
  for (const row of view.rows) {
    const matching = inFilter(row.dataset.group, view.filter) && nameOf(row).includes(query);
    matches += matching;
    row.hidden = !matching || matches > view.limit;
    if (row.detail) row.detail.hidden = row.hidden;
  }
  document.querySelector(".nothing").hidden = matches > 0;
  document.querySelector(".more").hidden = matches <= view.limit;
  document.querySelector(".more").textContent = `Show more of ${matches.toLocaleString("en")} tests`;
  return matches;
}

function say(text) {
  document.querySelector("[role=status]").textContent = text;
}

function watchHeaders(view, headers) {
  const sorter = document.querySelector(".sorter select");
  sorter.append(new Option("worst first", ""));
  for (const cell of headers) {
    const button = cell.firstElementChild;
    button.addEventListener("click", () => {
      const again = cell.getAttribute("aria-sort") === usual(cell);
      sortBy(view, headers, cell, again ? opposite(usual(cell)) : usual(cell));
      sorter.value = button.dataset.sort;
    });
    sorter.append(new Option(button.textContent.trim().toLowerCase(), button.dataset.sort));
  }
  sorter.addEventListener("change", () => {
    const cell = headers.find((header) => header.firstElementChild.dataset.sort === sorter.value);
    sortBy(view, headers, cell, cell ? usual(cell) : "ascending");
  });
}

// Sizes begin with the largest, names with the first.
function usual(header) {
  return header.firstElementChild.dataset.kind === "text" ? "ascending" : "descending";
}

function opposite(direction) {
  return direction === "ascending" ? "descending" : "ascending";
}

// Without a header: back to the order that the page came in.
function sortBy(view, headers, header, direction) {
  const { sort: key, kind } = header?.firstElementChild.dataset ?? {};
  const compare = kind === "text" ? compareTexts : compareNumbers;
  const sign = direction === "ascending" ? 1 : -1;
  const keyed = view.rows.map((row) => [key ? keyOf(row, key) : row.dataset.place, row]);
  keyed.sort((one, other) => compare(one[0], other[0], sign) || one[1].dataset.place - other[1].dataset.place);
  view.rows = keyed.map(([, row]) => row);
  view.limit = STEP;
  show(view);
  const sorted = document.createDocumentFragment();
  for (const row of view.rows) sorted.append(...(row.detail ? [row, row.detail] : [row]));
  table.tBodies[0].replaceChildren(sorted);
  for (const cell of headers) cell.setAttribute("aria-sort", cell === header ? direction : "none");
  say(header ? `sorted by ${header.textContent.trim()}, ${direction}` : "the worst first");
}

function keyOf(row, key) {
  if (key === "name") return nameOf(row);
  const cell = row.querySelector(`td.${key}`);
  return cell.dataset.key ?? cell.textContent;
}

function nameOf(row) {
  return (row.searched ??= row.cells[0].textContent.toLowerCase());
}

function compareTexts(one, other, sign) {
  return sign * (one < other ? -1 : one > other ? 1 : 0);
}

// What has no figure comes last in either direction.
function compareNumbers(one, other, sign) {
  if (one === "" || other === "") return (one === "") - (other === "");
  return one === other ? 0 : sign * (Number(one) - Number(other));
}

function watchFilters(view) {
  const showAnew = () => {
    view.limit = STEP;
    const matches = show(view);
    say(matches === 1 ? "1 test" : `${matches} tests`);
  };
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.addEventListener("click", () => {
      pressed().setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", "true");
      view.filter = button.dataset.filter;
      showAnew();
    });
  }
  const search = document.querySelector(".search input");
  document.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", () => {
    view.query = search.value.trim();
    showAnew();
  });
}

function pressed() {
  return document.querySelector("[data-filter][aria-pressed='true']");
}

function inFilter(group, filter) {
  return filter === "all" || group === filter || (filter === "budgeted" && group !== "unbudgeted");
}

function watchEnd(view) {
  const more = document.querySelector(".more");
  const showMore = () => {
    view.limit += STEP;
    show(view);
  };
  more.addEventListener("click", showMore);
  new IntersectionObserver((seen) => seen[0].isIntersecting && showMore(), { rootMargin: "400px" }).observe(more);
}

function watchRows() {
  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr.test");
    if (row && window.getSelection().isCollapsed) toggle(row);
  });
  document.addEventListener("keydown", (event) => {
    const way = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (way && document.activeElement.matches(".opener")) {
      event.preventDefault();
      neighbour(document.activeElement.closest("tr"), way)?.focus();
    } else if (event.key === "/" && !document.activeElement.matches("input, select")) {
      event.preventDefault();
      document.querySelector(".search input").focus();
    }
  });
}

function neighbour(row, way) {
  do row = row[way];
  while (row && (row.hidden || !row.matches(".test")));
  return row?.querySelector(".opener");
}

function toggle(row) {
  const opened = !row.detail;
  row.classList.toggle("opened", opened);
  row.querySelector(".opener").setAttribute("aria-expanded", String(opened));
  if (opened) {
    const cell = make("td", { colSpan: row.cells.length }, panelOf(details.tests[row.dataset.place]));
    cell.setAttribute("role", "cell");
    row.detail = make("tr", { className: row.classList.contains("open") ? "detail open" : "detail" }, cell);
    row.detail.setAttribute("role", "row");
    row.after(row.detail);
  } else {
    row.detail.remove();
    row.detail = null;
  }
}
