"use strict";
const viewer = (() => {
  const NUMBERS = 10, HEIGHT = 22, PER_LINE = 16, FAILED = 1, SHARED = 4, BODILESS = 8, QUIET = 16, PATHLESS = 32;
  const [LEVEL, START, SIZE, SPACE, NAME, PATH, VALUE, MEANING, SPEC, FLAGS] = Array(NUMBERS).keys();
  let data = {}, rows = [], count = 0, texts = [], spaces = [new Uint8Array(0)], leaves = [[]];
  let parents = new Int32Array(0), behind = new Int32Array(0), folded = new Uint8Array(0);
  const of = (row, column) => rows[row * NUMBERS + column];
  const text = (row, column) => texts[of(row, column)];
  const byId = (id) => document.getElementById(id);
  const status = byId("status"), tree = byId("tree"), hex = byId("hex");
  const treeAll = tree.firstElementChild, hexAll = hex.firstElementChild;

  // --- the tree: parents, ends, which rows are seen
  function nest() {
    const open = [];
    parents = new Int32Array(count);
    behind = new Int32Array(count);
    for (let row = 0; row <= count; row++) {
      const level = row < count ? of(row, LEVEL) : 0;
      while (open.length && (row === count || of(open[open.length - 1], LEVEL) >= level)) behind[open.pop()] = row;
      if (row < count) { parents[row] = open.length ? open[open.length - 1] : -1; open.push(row); }
    }
  }
  const hasParts = (row) => behind[row] > row + 1;
  let seen = [], placeOf = new Int32Array(0);
  function look() {
    seen = []; placeOf.fill(-1);
    for (let row = 0; row < count; row = folded[row] ? behind[row] : row + 1) { placeOf[row] = seen.length; seen.push(row); }
    treeAll.style.height = seen.length * HEIGHT + "px";
    drawTree();
  }

  // --- from bytes to rows: of each space the rows that have bytes of their own, by their starts
  function arrange() {
    leaves = spaces.map(() => []);
    for (let row = 0; row < count; row++) {
      if (!of(row, SIZE) || of(row, FLAGS) & (BODILESS | SHARED)) continue;
      let isLeaf = true;
      for (let inner = row + 1; inner < behind[row] && isLeaf; inner = behind[inner])
        isLeaf = !of(inner, SIZE) || (of(inner, FLAGS) & BODILESS) > 0 || of(inner, SPACE) !== of(row, SPACE);
      if (isLeaf) leaves[of(row, SPACE)].push(row);
    }
    leaves.forEach((each) => each.sort((a, b) => of(a, START) - of(b, START)));
  }
  function rowOf(space, at) {
    const list = leaves[space];
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (of(list[middle], START) <= at) low = middle + 1; else high = middle; }
    const row = list[low - 1];
    return row !== undefined && at < of(row, START) + of(row, SIZE) ? row : -1;
  }

  // --- what is picked, what is pointed at
  let space = 0, picked = 0, hovered = -1, cursor = 0;
  const isWithin = (row, at) => row >= 0 && of(row, SPACE) === space && of(row, START) <= at && at < of(row, START) + of(row, SIZE);
  function pathOf(row) {
    if (of(row, FLAGS) & PATHLESS) return "";
    for (let each = row, tail = ""; ; each = parents[each]) {
      if (each < 0) return tail.replace(/^\./, "");
      if (of(each, PATH)) return text(each, PATH) + tail;
      if (of(each, FLAGS) & PATHLESS) continue;
      const name = text(each, NAME);
      tail = (/^\[\d+\]/.test(name) ? name.replace(" key", "") : "." + name) + tail;
    }
  }
  const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
  let digits = [];
  function hexOf(row) {
    const number = of(row, SPACE);
    digits[number] ??= Array.from(spaces[number], (byte) => DIGITS[byte]).join("");
    return digits[number].slice(2 * of(row, START), 2 * (of(row, START) + of(row, SIZE)));
  }
  const spaced = (text) => text.replace(/..(?!$)/g, "$& ");

  // --- drawing: only the rows that are in view
  function element(kind, name, content) {
    const made = document.createElement(kind);
    if (name) made.className = name;
    if (content !== undefined) made.textContent = content;
    return made;
  }
  function options(select, entries, value) {
    select.replaceChildren(...entries.map(([key, name]) => { const made = element("option", "", name); made.value = key; return made; }));
    select.value = value;
  }
  function range(view, total) {
    const first = Math.max(Math.floor(view.scrollTop / HEIGHT) - 8, 0);
    return [first, Math.min(first + Math.ceil(view.clientHeight / HEIGHT) + 16, total)];
  }
  function drawTree() {
    const [first, last] = range(tree, seen.length), made = document.createDocumentFragment();
    for (let place = first; place < last; place++) made.append(treeRow(seen[place], place));
    treeAll.replaceChildren(made);
    if (placeOf[picked] >= first && placeOf[picked] < last) tree.setAttribute("aria-activedescendant", "row" + picked);
    else tree.removeAttribute("aria-activedescendant");
  }
  function treeRow(row, place) {
    const flags = of(row, FLAGS), made = element("div", "row");
    made.id = "row" + row;
    made.dataset.row = row;
    made.style.top = place * HEIGHT + "px";
    made.setAttribute("role", "treeitem");
    made.setAttribute("aria-level", of(row, LEVEL) + 1);
    made.setAttribute("aria-selected", row === picked);
    if (hasParts(row)) made.setAttribute("aria-expanded", !folded[row]);
    if (row === picked) made.classList.add("picked");
    if (row === hovered) made.classList.add("hover");
    if (flags & FAILED) made.classList.add("bad");
    if (flags & QUIET) made.classList.add("quiet");
    const name = element("span", "name");
    const fold = element("span", "fold", hasParts(row) ? (folded[row] ? "\u25b8" : "\u25be") : "");
    fold.setAttribute("aria-hidden", "true");
    name.append(element("span", "", "  ".repeat(of(row, LEVEL))), fold, text(row, NAME));
    name.title = [pathOf(row), text(row, SPEC)].filter(Boolean).join("\n");
    const value = element("span", "value", text(row, VALUE)), meaning = element("span", "meaning", text(row, MEANING));
    value.title = text(row, VALUE);
    meaning.title = text(row, MEANING);
    made.append(element("span", "number", of(row, START)), element("span", "number", of(row, SIZE)), name, value, meaning);
    return made;
  }
  const lines = () => Math.ceil(spaces[space].length / PER_LINE);
  function drawHex() {
    const bytes = spaces[space], [first, last] = range(hex, lines()), made = document.createDocumentFragment();
    for (let line = first; line < last; line++) {
      const row = element("div", "row"), chars = [];
      row.style.top = line * HEIGHT + "px";
      row.append(element("span", "at", String(line * PER_LINE).padStart(8) + "  "));
      for (let at = line * PER_LINE; at < (line + 1) * PER_LINE; at++) {
        if (at >= bytes.length) { row.append(element("span", "byte", "  ")); continue; }
        const byte = element("span", "byte", DIGITS[bytes[at]]);
        const char = element("span", "char", bytes[at] > 31 && bytes[at] < 127 ? String.fromCharCode(bytes[at]) : "\u00b7");
        for (const each of [byte, char]) { each.dataset.at = at; dress(each, at); }
        row.append(byte);
        chars.push(char);
      }
      row.append("  ", ...chars);
      made.append(row);
    }
    hexAll.replaceChildren(made);
  }
  function dress(made, at) {
    const own = rowOf(space, at);
    if (own >= 0 && of(own, FLAGS) & QUIET) made.classList.add("quiet");
    if (isWithin(picked, at) && picked > 0) made.classList.add("picked");
    else if (isWithin(hovered, at)) made.classList.add("hover");
    if (data.fault && data.fault.space === space && ((data.fault.start <= at && at < data.fault.end) || at === data.fault.suspect)) made.classList.add("fault-byte");
    if (at === cursor) made.classList.add("cursor");
  }

  // --- moving about
  function reveal(view, place) {
    const top = place * HEIGHT;
    if (top < view.scrollTop) view.scrollTop = top - HEIGHT * 2;
    else if (top + HEIGHT > view.scrollTop + view.clientHeight) view.scrollTop = top + HEIGHT * 3 - view.clientHeight;
  }
  function show(wanted) {
    space = wanted;
    byId("spaces").value = wanted;
    hexAll.style.height = lines() * HEIGHT + "px";
  }
  function pick(row, at) {
    picked = row;
    let isFolded = false;
    for (let each = parents[row]; each >= 0; each = parents[each]) { isFolded ||= folded[each] > 0; folded[each] = 0; }
    on.picked(text(row, SPEC), pathOf(row));
    if (of(row, SPACE) !== space) show(of(row, SPACE));
    cursor = at === undefined ? of(row, START) : at;
    if (isFolded) look();
    reveal(tree, placeOf[row]);
    reveal(hex, Math.floor(cursor / PER_LINE));
    drawTree();
    drawHex();
    const size = of(row, SIZE), bytes = spaced(hexOf(row).slice(0, 32));
    say([pathOf(row) || text(row, NAME), `byte ${of(row, START)}, ${size} byte${size === 1 ? "" : "s"}`, text(row, VALUE), bytes && bytes + (size > 16 ? " \u2026" : ""), text(row, MEANING), text(row, SPEC)].filter(Boolean).join(" \u00b7 "));
  }
  function say(message) { status.textContent = message; }
  function hover(row) {
    if (row === hovered) return;
    hovered = row;
    drawTree();
    drawHex();
  }
  const rowAt = (event) => { const found = event.target.closest("[data-row]"); return found ? Number(found.dataset.row) : -1; };
  const byteAt = (event) => { const found = event.target.closest("[data-at]"); return found ? Number(found.dataset.at) : -1; };
  tree.addEventListener("scroll", drawTree);
  hex.addEventListener("scroll", drawHex);
  addEventListener("resize", () => { drawTree(); drawHex(); });
  tree.addEventListener("mouseover", (event) => hover(rowAt(event)));
  tree.addEventListener("mouseleave", () => hover(-1));
  hex.addEventListener("mouseover", (event) => { const at = byteAt(event); hover(at < 0 ? -1 : rowOf(space, at)); });
  hex.addEventListener("mouseleave", () => hover(-1));
  tree.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row < 0) return;
    if (event.target.closest(".fold") && hasParts(row)) { folded[row] ^= 1; look(); return; }
    pick(row);
  });
  hex.addEventListener("click", (event) => { const at = byteAt(event); if (at >= 0) pickByte(at); });
  function pickByte(at) {
    const row = rowOf(space, at);
    if (row >= 0) pick(row, at);
  }
  tree.addEventListener("keydown", (event) => {
    const place = placeOf[picked], page = Math.max(Math.floor(tree.clientHeight / HEIGHT) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) pick(seen[Math.min(Math.max(place + steps[event.key], 0), seen.length - 1)]);
    else if (event.key === "Home") pick(seen[0]);
    else if (event.key === "End") pick(seen[seen.length - 1]);
    else if (event.key === "ArrowRight" && hasParts(picked)) { if (folded[picked]) { folded[picked] = 0; look(); } else pick(picked + 1); }
    else if (event.key === "ArrowLeft") { if (hasParts(picked) && !folded[picked]) { folded[picked] = 1; look(); } else if (parents[picked] >= 0) pick(parents[picked]); }
    else if ((event.key === "Enter" || event.key === " ") && hasParts(picked)) { folded[picked] ^= 1; look(); }
    else return;
    event.preventDefault();
  });
  hex.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: PER_LINE, ArrowUp: -PER_LINE, Home: -cursor, End: spaces[space].length - 1 - cursor };
    if (!(event.key in steps)) return;
    pickByte(Math.min(Math.max(cursor + steps[event.key], 0), spaces[space].length - 1));
    event.preventDefault();
  });

  // --- search
  const search = byId("search");
  function holds(row, wanted) {
    const all = hexOf(row);
    let found = all.indexOf(wanted);
    while (found % 2 > 0) found = all.indexOf(wanted, found + 1);
    return found >= 0;
  }
  function matcher(said) {
    const wanted = said.toLowerCase(), bytes = wanted.replaceAll(" ", "");
    const sought = [Array.from(new TextEncoder().encode(said), (byte) => DIGITS[byte]).join("")];
    if (/^(?:[0-9a-f]{2})+$/.test(bytes)) sought.push(bytes);
    const last = /[^.]*$/.exec(wanted)[0];
    const has = (part) => texts.map((each) => each.toLowerCase().includes(part)), whole = has(wanted), end = has(last);
    return (row) =>
      whole[of(row, NAME)] || whole[of(row, VALUE)] || whole[of(row, MEANING)] ||
      (end[of(row, NAME)] && pathOf(row).toLowerCase().includes(wanted)) ||
      (!hasParts(row) && sought.some((each) => holds(row, each)));
  }
  function find(step) {
    const wanted = search.value.trim();
    if (!wanted) { say("Type what to search for: a name, a value, or bytes in hexadecimal"); return; }
    const matches = matcher(wanted);
    for (let tried = 1, row = picked; tried <= count; tried++) {
      row = (row + step + count) % count;
      if (matches(row)) { pick(row); return; }
    }
    say(`Nothing has \u201c${search.value.trim()}\u201d`);
  }
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") find(event.shiftKey ? -1 : 1); });
  byId("next").addEventListener("click", () => find(1));
  byId("previous").addEventListener("click", () => find(-1));
  byId("fold").addEventListener("click", () => { for (let row = 1; row < count; row++) folded[row] = hasParts(row) ? 1 : 0; look(); pick(0); });
  byId("unfold").addEventListener("click", () => { folded.fill(0); look(); });

  // --- copies of what is picked
  function asTree(row) {
    const made = { path: pathOf(row), offset: of(row, START), length: of(row, SIZE) };
    if (of(row, VALUE)) made.value = text(row, VALUE);
    if (!hasParts(row) && of(row, SIZE)) made.hex = hexOf(row);
    if (!made.path) { delete made.path; made.name = text(row, NAME); }
    const parts = [];
    for (let inner = row + 1; inner < behind[row]; inner = behind[inner]) parts.push(asTree(inner));
    if (parts.length) made.fields = parts;
    return made;
  }
  async function copy(content, what) {
    try { await navigator.clipboard.writeText(content); } catch {
      const area = element("textarea", "", content);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(`Copied ${what} of ${pathOf(picked) || text(picked, NAME)}`);
    document.body.dataset.copied = content;
  }
  byId("copy-hex").addEventListener("click", () => copy(spaced(hexOf(picked)), "hex"));
  byId("copy-json").addEventListener("click", () => copy(JSON.stringify(asTree(picked), null, 2), "JSON"));
  byId("copy-python").addEventListener("click", () => copy(`bytes.fromhex("${spaced(hexOf(picked))}")  # ${pathOf(picked) || "the record"}`, "Python"));

  // --- spaces, theme, fault
  const choice = byId("spaces"), fault = byId("fault");
  choice.addEventListener("change", () => { show(Number(choice.value)); cursor = 0; hex.scrollTop = 0; drawHex(); });
  byId("theme").addEventListener("click", (event) => {
    const isDark = getComputedStyle(document.documentElement).getPropertyValue("--back").trim() === "#16181c";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    event.target.setAttribute("aria-pressed", String(!isDark));
  });
  function toFault() {
    show(data.fault.space);
    const at = Math.max(Math.min(data.fault.start, spaces[space].length - 1), 0);
    let row = spaces[space].length ? rowOf(space, at) : 0;
    for (let each = 0; each < count; each++)
      if (of(each, FLAGS) & FAILED && of(each, SPACE) === space && each && of(each, START) <= at && at <= of(each, START) + of(each, SIZE)) row = each;
    pick(Math.max(row, 0), at);
  }
  byId("to-fault").addEventListener("click", toFault);
  function sayFault() {
    fault.hidden = !data.fault;
    fault.querySelector("dl").replaceChildren(...(data.fault ? data.fault.said : []).map(([name, content]) => {
      const made = element("div");
      made.append(element("dt", "", name), element("dd", "", content));
      return made;
    }));
  }

  // --- a record: the page's own, or the next
  const on = { picked: () => {} };
  function rowAtPath(path) {
    for (let row = 0; path && row < count; row++) if (pathOf(row) === path) return row;
    return 0;
  }
  function load(record, path) {
    data = record;
    texts = data.texts;
    count = data.columns[0].length;
    rows = new Int32Array(count * NUMBERS);
    data.columns.forEach((column, number) => {
      for (let row = 0, sum = 0; row < count; row++) rows[row * NUMBERS + number] = sum += column[row];
    });
    spaces = data.spaces.map(fromBase64);
    folded = new Uint8Array(count);
    digits = [];
    placeOf = new Int32Array(count);
    [space, picked, hovered, cursor] = [0, 0, -1, 0];
    nest();
    arrange();
    options(choice, data.names.map((name, number) => [number, name]), space);
    byId("spaces-label").hidden = spaces.length < 2;
    say("");
    sayFault();
    show(0);
    look();
    drawHex();
    const row = rowAtPath(path);
    if (row) pick(row);
    else if (data.fault) toFault();
  }
  const fromBase64 = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const unpack = async (text) => new Response(new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  const own = byId("data");
  if (own) unpack(own.textContent).then(load, () => say("This browser cannot unpack the record; it needs to know DecompressionStream."));
  return { DIGITS, byId, element, fromBase64, load, on, options };
})();
