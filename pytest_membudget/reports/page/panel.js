// What a row shows when it is opened.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function panelOf(test) {
  const figures = make("section", {}, timelineOf(test), usesOf(test), devicesOf(test));
  return make(
    "div",
    { className: "panel" },
    test.text ? make("pre", { className: "wide" }, test.text) : null,
    test.reason && !test.text ? make("p", { className: "wide reason" }, `Not judged: ${test.reason}`) : null,
    make("section", {}, changesOf(test), sitesOf(test)),
    figures,
    factsOf(test),
  );
}

// What grew, where a figure left its baseline; a function that is gone has no line any more.
function changesOf(test) {
  if (!test.changes) return null;
  const items = test.changes.map(([kind, before, change, place, source]) => {
    const was = kind === "grown" ? `${kind}, from ${size(before)}` : kind;
    return itemOf(`${change > 0 ? "+" : ""}${size(change)}`, was, details.texts[source], details.texts[place]);
  });
  return make("div", { className: "changes" }, make("h2", {}, "Since the baseline"), make("ul", { className: "sites" }, ...items));
}

function itemOf(amount, note, code, place, ...more) {
  return make(
    "li",
    {},
    make("div", { className: "amount" }, amount),
    make(
      "div",
      {},
      code ? make("code", {}, code) : null,
      make("div", { className: "place" }, note ? `${place} (${note})` : place),
      ...more,
    ),
  );
}

function sitesOf(test) {
  if (!test.sites) {
    const known = test.uses?.some(([resource, peak]) => resource === "ram" && peak !== null);
    const text = known ? "Nothing of note was allocated at the peak." : "The heap of this test was not measured.";
    return make("section", {}, make("h2", {}, "Call sites at the peak"), make("p", { className: "facts" }, text));
  }
  const peak = useOf(test, "ram")?.[1] || test.sites[0][0];
  const items = test.sites.map((site) => siteOf(site, peak));
  return make("section", {}, make("h2", {}, "Call sites at the peak"), make("ul", { className: "sites" }, ...items));
}

function siteOf([bytes, frame, source, via], peak) {
  const share = Math.min(bytes / peak, 1);
  const fill = make("i");
  fill.style.width = `${100 * share}%`;
  const [line, code, library] = [frame, source, via].map((place) => details.texts[place]);
  const item = itemOf(size(bytes), "", code, library ? `${line}, via ${library}` : line, make("div", { className: "share-bar" }, fill));
  item.querySelector(".amount").append(make("span", {}, `${Math.round(100 * share)}%`));
  return item;
}

const RESOURCES = {
  ram: "Heap peak (ram)",
  retained: "Held at the end (retained)",
  rss: "Resident peak (rss)",
  vram: "GPU peak (vram)",
};

function useOf(test, resource) {
  return test.uses?.find(([name]) => name === resource);
}

function usesOf(test) {
  if (!test.uses) return null;
  const compared = test.uses.some((use) => use[3] !== null);
  const names = ["Figure", "Peak", "Budget", ...(compared ? ["Baseline"] : []), "Source"];
  const number = (name) => !["Figure", "Source"].includes(name);
  const head = names.map((name) => make("th", { scope: "col", className: number(name) ? "number" : "" }, name));
  const lines = test.uses.map(([resource, peak, budget, baseline, anchor, source, exact]) => {
    const peakText = peak === null ? "-" : (exact ? "" : "≈ ") + size(peak);
    const first = anchor === null || anchor === baseline ? [] : [make("small", {}, `first ${size(anchor)}`)];
    const figures = [[peakText], [size(budget)], ...(compared ? [[size(baseline), ...first]] : [])];
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, RESOURCES[resource]),
      ...figures.map((figure) => make("td", { className: "number" }, ...figure)),
      make("td", { className: "source" }, source ?? "not measured"),
    );
  });
  return make("table", { className: "uses" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
}

// Which GPU the figure is of, who says so, and what that source cannot see.
function devicesOf(test) {
  if (!test.devices) return null;
  const lines = test.devices.map((line) => make("li", {}, line));
  return make("div", {}, make("h2", {}, "GPU memory by device"), make("ul", { className: "devices facts" }, ...lines));
}

function factsOf(test) {
  const facts = [
    test.place,
    `took ${duration(1000 * (test.seconds ?? 0))}`,
    `pytest's outcome: ${test.test_outcome}`,
    test.isolated && !test.provenance ? "in a process of its own" : null,
    test.provenance?.join(", "),
    test.worker ? `on worker ${test.worker}` : null,
  ];
  const shown = facts.filter((fact) => fact).map((fact) => make("span", {}, fact));
  return make("p", { className: "facts wide" }, ...shown);
}

function duration(milliseconds) {
  if (milliseconds >= 60000) return `${threeDigits(milliseconds / 60000)} min`;
  if (milliseconds >= 1000) return `${threeDigits(milliseconds / 1000)} s`;
  return `${threeDigits(milliseconds)} ms`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function size(bytes) {
  if (bytes === null || bytes === undefined) return "-";
  let [scaled, unit] = [Math.abs(bytes), 0];
  for (; unit < UNITS.length - 1 && (unit === 0 ? scaled >= 1024 : scaled >= 999.5); unit += 1) scaled /= 1024;
  return `${bytes < 0 ? "-" : ""}${unit === 0 ? scaled : threeDigits(scaled)} ${UNITS[unit]}`;
}

function threeDigits(number) {
  const text = number.toFixed(number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
