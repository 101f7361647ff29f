(() => {
  const { DIGITS, byId, element, fromBase64, load, on, options } = viewer;
  const token = new URLSearchParams(location.search).get("token");
  const KEPT = 1 << 20, LARGE = 100_000, LARGEST = 16 << 20, LINE = 20;
  const editor = byId("editor"), input = byId("input"), lines = byId("lines");

  // --- state: what survives a reload. `texts` are the open files: as on disk when opened, and as edited
  const state = { spec: JSON.parse(byId("first").textContent), file: "", texts: {}, input: "", kind: "auto", root: "", framing: "", parameters: {}, record: null, path: "", held: null };
  let held = null, format = null, folder = "", target = null, wantsExample = false, keeping = 0;
  const first = state.spec;
  function keep() { clearTimeout(keeping); keeping = setTimeout(store, 200); }
  function store() {
    state.input = held ? "" : input.value;
    state.held = held && held.bytes.length <= KEPT ? { name: held.name, data: base64(held.bytes) } : null;
    try { sessionStorage.setItem("wireloom", JSON.stringify({ ...state, first })); } catch { /* too much to keep */ }
  }
  function recall() {
    try {
      const found = JSON.parse(sessionStorage.getItem("wireloom"));
      if (found && found.first === first) Object.assign(state, found);
    } catch { /* nothing was kept */ }
  }
  function base64(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
  }

  // --- the server
  async function ask(path, body) {
    let answer;
    try {
      answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Wireloom-Token": token }, body: JSON.stringify(body) });
    } catch { return { failure: "`wireloom serve` does not answer. Start it again, and open the URL that it prints." }; }
    const found = await answer.json();
    return answer.ok || found.failure ? found : { failure: `The server answers ${answer.status}` };
  }
  let latest = 0, timer = 0;
  function changed() {
    keep();
    clearTimeout(timer);
    timer = setTimeout(decode, 30);
  }
  async function decode() {
    const bytes = read();
    if (!state.texts[state.spec] || bytes === null) return;
    const number = ++latest;
    const waits = setTimeout(() => { byId("state").textContent = "working\u2026"; }, 400);
    const texts = Object.fromEntries(Object.entries(state.texts).filter(([, each]) => each.text !== each.saved).map(([name, each]) => [name, each.text]));
    const parameters = Object.entries(state.parameters).filter(([, value]) => value !== "").map(([name, value]) => `${name}=${value}`);
    const answer = await ask("/decode", { spec: state.spec, texts, data: base64(bytes), root: state.root, framing: state.framing, parameters, record: state.record });
    clearTimeout(waits);
    if (number !== latest) return;
    if (answer.superseded) { changed(); return; }
    show(answer);
  }

  // --- the bytes
  const bareHex = (text) => undumped(text).replace(/0x|\\x/gi, "");
  function undumped(text) {
    const rows = text.split("\n").map((each) => each.trimEnd()).filter(Boolean);
    if (rows.every((each) => /^[0-9a-f]{4,}: /i.test(each))) return rows.map((each) => each.replace(/^[^:]*: */, "").split("  ")[0]).join("\n");
    if (rows.every((each) => /^[0-9a-f]{7,}(?:  .*\||)$/i.test(each)) && rows[0].includes("|")) return rows.map((each) => each.replace(/^\S+/, "").split("|")[0]).join("\n");
    return text;
  }
  function meant(text, kind) {
    if (kind !== "auto") return kind;
    if (format && format.isText && /^\s*[[{"]/.test(text)) return "text";
    if (/^[0-9a-fA-F\s,:;-]*$/.test(bareHex(text.length > 4096 ? text.slice(0, 4096).replace(/\n[^\n]*$/, "") : text))) return "hex";
    const bare = text.replace(/\s+/g, "");
    return /^[A-Za-z0-9+/_-]+={0,2}$/.test(bare) && bare.length % 4 !== 1 ? "base64" : "text";
  }
  function parsed(text, kind) {
    switch (meant(text, kind)) {
      case "hex": {
        const digits = bareHex(text).replace(/[\s,:;-]+/g, ""), wrong = /[^0-9a-fA-F]/.exec(digits);
        if (wrong) throw new Error(`\u201c${wrong[0]}\u201d is not a hex digit`);
        if (digits.length % 2) throw new Error(`${digits.length} hex digits: one digit is missing or too many`);
        const bytes = new Uint8Array(digits.length / 2);
        for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(digits.substr(2 * at, 2), 16);
        return { bytes, kind: "hex" };
      }
      case "base64":
        try { return { bytes: fromBase64(text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/")), kind: "base64" }; } catch { throw new Error("this is no base64"); }
      default:
        return { bytes: new TextEncoder().encode(text), kind: "text (UTF-8)" };
    }
  }
  function read() {
    byId("held").hidden = !held;
    input.hidden = Boolean(held);
    if (held) {
      byId("held-name").textContent = `${held.name}: ${held.bytes.length.toLocaleString("en")} bytes${held.bytes.length > KEPT ? " (too many to survive a reload of the page)" : ""}`;
      byId("read").textContent = "";
      return held.bytes;
    }
    try {
      const { bytes, kind } = parsed(input.value, byId("kind").value);
      byId("read").textContent = bytes.length ? `${bytes.length} bytes, read as ${kind}` : "";
      return bytes;
    } catch (error) {
      byId("read").textContent = `Not decoded: ${error.message}`;
      return null;
    }
  }
  function hold(name, bytes) {
    if (bytes.length > LARGEST) { fail(`${name} has ${bytes.length.toLocaleString("en")} bytes; this page takes at most ${LARGEST >> 20} MiB. Use \`wireloom inspect\`.`); return; }
    held = { name, bytes };
    input.value = "";
    renewed();
  }
  function renewed() { state.record = null; byId("example").value = ""; changed(); }
  input.addEventListener("input", renewed);
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (text.length <= LARGE) return;
    event.preventDefault();
    try { hold("pasted", parsed(text, byId("kind").value).bytes); } catch (error) { fail(`Not pasted: ${error.message}`); }
  });
  async function take(file) { if (file) hold(file.name, new Uint8Array(await file.arrayBuffer())); }
  byId("open").addEventListener("change", (event) => { take(event.target.files[0]); event.target.value = ""; });
  byId("drop").addEventListener("click", () => { held = null; renewed(); input.focus(); });
  byId("kind").addEventListener("change", (event) => { state.kind = event.target.value; changed(); });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", (event) => { event.preventDefault(); document.body.classList.remove("dropping"); take(event.dataTransfer.files[0]); });

  // --- the menus: formats, examples, roots, parameters
  function offer(found) {
    const known = JSON.stringify(found);
    if (format && JSON.stringify(format) === known) return;
    format = found;
    byId("title").textContent = format.title;
    document.title = `${format.name} \u2013 Wireloom`;
    const chosen = byId("example").value;
    options(byId("example"), [["", "choose"], ...format.examples.map((each, number) => [String(number), each.error ? `${each.name} (${each.error})` : each.name])], chosen);
    byId("root-label").hidden = format.roots.length < 2;
    options(byId("root"), format.roots.map((each) => [each, each]), state.root || format.roots[0]);
    byId("framing").placeholder = `as in the spec: ${format.framing.split(":")[0]}`;
    byId("parameters").replaceChildren(...format.parameters.map(parameter));
  }
  function parameter(each) {
    const label = element("label", "", `${each.name} `), made = element(each.options.length ? "select" : "input");
    label.title = each.doc;
    if (each.options.length) options(made, [["", `${each.default || "none"} (default)`], ...each.options.map((value) => [value, value])], "");
    else made.placeholder = each.default;
    made.value = state.parameters[each.name] || "";
    made.addEventListener("input", () => { state.parameters[each.name] = made.value; state.record = null; changed(); });
    label.append(made);
    return label;
  }
  byId("root").addEventListener("change", (event) => { state.root = event.target.value === format.roots[0] ? "" : event.target.value; state.record = null; changed(); });
  byId("framing").addEventListener("input", (event) => { state.framing = event.target.value.trim(); state.record = null; changed(); });
  function example(number) {
    const each = format.examples[number];
    if (!each) return;
    const bytes = fromBase64(each.data);
    held = null;
    Object.assign(state, { root: each.root === format.roots[0] ? "" : each.root, framing: "none", parameters: { ...each.parameters }, record: null, path: "" });
    byId("framing").value = "none";
    byId("root").value = each.root;
    byId("parameters").replaceChildren(...format.parameters.map(parameter));
    byId("kind").value = state.kind = "auto";
    input.value = asText(bytes);
    if (meant(input.value, "auto") === "text" && !isPlain(bytes)) byId("kind").value = state.kind = "hex";
    changed();
  }
  const isPlain = (bytes) => format.isText && bytes.every((byte) => byte === 9 || byte === 10 || (byte > 31 && byte < 127));
  function asText(bytes) {
    if (isPlain(bytes)) return new TextDecoder().decode(bytes);
    const digits = Array.from(bytes, (byte) => DIGITS[byte]), made = [];
    for (let at = 0; at < digits.length; at += 32) made.push(digits.slice(at, at + 32).join(" "));
    return made.join("\n");
  }
  byId("example").addEventListener("change", (event) => { if (event.target.value) example(Number(event.target.value)); });
  async function openSpec(name, isNew) {
    state.spec = name;
    byId("format").value = name;
    if (isNew) { Object.assign(state, { root: "", framing: "", parameters: {}, record: null, path: "" }); byId("framing").value = ""; format = null; }
    await openFile(name);
    if (isNew) wantsExample = true;
    changed();
  }
  byId("format").addEventListener("change", (event) => { held = null; input.value = ""; openSpec(event.target.value, true); });

  // --- the spec: its files, its lines, its problems
  const typed = (own) => own.saved.includes("\r\n") ? editor.value.replaceAll("\n", "\r\n") : editor.value;  // a text area has line feeds only
  async function openFile(name) {
    if (!state.texts[name]) {
      const found = await ask("/open", { name });
      if (found.failure) { fail(found.failure); return false; }
      state.texts[name] = { text: found.text, saved: found.text, digest: found.digest };
    }
    state.file = name;
    editor.value = state.texts[name].text;
    editor.scrollTop = 0;
    byId("file").value = name;
    number();
    standing();
    return true;
  }
  byId("file").addEventListener("change", async (event) => { await openFile(event.target.value); keep(); });
  function standing() {
    const own = state.texts[state.file], isEdited = own && own.text !== own.saved;
    byId("save").disabled = byId("revert").disabled = !isEdited;
    byId("state").textContent = isEdited ? "edited, not saved" : "";
  }
  let problems = [], drawn = "";
  function number() {
    const count = editor.value.split("\n").length, own = problems.filter((each) => each.file === state.file);
    const line = target && target[0] === state.file ? target[1] : 0;
    const wanted = `${count} ${line} ${state.file} ${own.map((each) => `${each.line}${each.level}`)}`;
    if (wanted !== drawn) {
      const levels = new Map(own.map((each) => [each.line, each.level]));
      for (const each of own) if (each.level === "error") levels.set(each.line, "error");
      lines.replaceChildren(...Array.from({ length: count }, (_, index) => {
        const names = [levels.get(index + 1), index + 1 === line ? "current" : ""].filter(Boolean).join(" ");
        return element("div", names, String(index + 1));
      }));
      drawn = wanted;
    }
    lines.scrollTop = editor.scrollTop;
  }
  editor.addEventListener("scroll", () => { lines.scrollTop = editor.scrollTop; });
  editor.addEventListener("input", () => { if (!state.texts[state.file]) return; state.texts[state.file].text = typed(state.texts[state.file]); number(); standing(); changed(); });
  editor.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.isComposing) return;
    const row = editor.value.slice(0, editor.selectionStart).split("\n").pop();
    event.preventDefault();
    document.execCommand("insertText", false, `\n${/^ */.exec(row)[0]}`);
  });
  async function goTo(file, row, column) {
    if (file !== state.file && !(await openFile(file))) return;
    const rows = editor.value.split("\n"), start = rows.slice(0, row - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const at = Math.min(start + column - 1, editor.value.length);
    editor.focus();
    editor.setSelectionRange(at, at);
    editor.scrollTop = Math.max((row - 1) * LINE - editor.clientHeight / 2, 0);
    number();
  }
  function problem(each) {
    const item = element("li"), made = element("button", each.level);
    made.type = "button";
    made.append(element("span", "place", `${each.file === state.spec ? "" : `${each.file}:`}${each.line}:${each.column} `), `${each.level === "error" ? "" : "warning: "}${each.text} [${each.id}]`);
    made.addEventListener("click", () => goTo(each.file, each.line, each.column));
    item.append(made);
    if (each.picture.length) item.append(element("pre", "", each.picture.join("\n")));
    return item;
  }
  async function save() {
    const name = state.file, own = state.texts[name], text = own.text;
    if (text === own.saved) return;
    const answer = await ask("/save", { name, text, digest: own.digest });
    if (answer.failure) { byId("state").textContent = `Not saved: ${answer.failure}. \u201cUndo all\u201d reads it again.`; return; }
    Object.assign(own, { saved: text, digest: answer.digest });
    standing();
    byId("state").textContent = "saved";
    keep();
  }
  byId("save").addEventListener("click", save);
  addEventListener("keydown", (event) => { if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); save(); } });
  byId("revert").addEventListener("click", async () => { delete state.texts[state.file]; await openFile(state.file); changed(); });
  addEventListener("beforeunload", (event) => { store(); if (Object.values(state.texts).some((each) => each.text !== each.saved)) event.preventDefault(); });

  // --- the answer
  function fail(message) { byId("failure").textContent = message; byId("failure").hidden = !message; }
  function show(answer) {
    problems = answer.problems || [];
    const errors = problems.filter((each) => each.level === "error").length, warnings = problems.length - errors;
    const counted = [errors && `${errors} error${errors > 1 ? "s" : ""}`, warnings && `${warnings} warning${warnings > 1 ? "s" : ""}`].filter(Boolean).join(", ");
    byId("count").textContent = counted || "No problems";
    byId("problems").replaceChildren(...problems.map(problem));
    fail(answer.failure || "");
    standing();
    if (answer.format) {
      offer(answer.format);
      const files = [state.spec, ...answer.shared];
      byId("file-label").hidden = files.length < 2;
      options(byId("file"), files.map((each) => [each, each]), state.file);
      folder = answer.folder;
      if (wantsExample) { wantsExample = false; if (format.examples.length && !held && !input.value) { byId("example").value = "0"; example(0); return; } }
      stream(answer);
      shown(answer.record);
    }
    byId("stale").hidden = Boolean(answer.format) || byId("view").hidden;
    byId("view").classList.toggle("old", !answer.format);
    number();
  }
  function stream({ records = [], more, record }) {
    byId("stream").hidden = records.length < 2 && !state.record;
    byId("records-label").textContent = `Records${more ? ` (the first ${records.length})` : ` (${records.length})`}`;
    options(byId("records"), records.map(([index, offset, size, error]) => [String(index), `${index}: byte ${offset}, ${size} bytes${error ? `, bad: ${error}` : ""}`]), record ? String(record.number) : "");
    byId("number-label").hidden = !more;
    if (document.activeElement !== byId("number")) byId("number").value = record ? record.number : "";
  }
  byId("records").addEventListener("change", (event) => { state.record = Number(event.target.value); changed(); });
  byId("number").addEventListener("change", (event) => { state.record = event.target.value === "" ? null : Number(event.target.value); changed(); });
  function shown(record) {
    byId("view").hidden = !record;
    if (!record) return;
    byId("summary").textContent = record.summary;
    load(record, state.path);
  }
  on.picked = (place, path) => {
    const found = /^(.*):(\d+)$/.exec(place), name = found && found[1].startsWith(folder) ? found[1].slice(folder.length) : "";
    state.path = path;
    target = name ? [name, Number(found[2])] : null;
    byId("to-spec").disabled = !name;
    number();
    keep();
  };
  byId("to-spec").addEventListener("click", () => { if (target) goTo(...target, 1); });

  async function start() {
    recall();
    byId("kind").value = state.kind;
    byId("framing").value = state.framing;
    input.value = state.input;
    if (state.held) held = { name: state.held.name, bytes: fromBase64(state.held.data) };
    const specs = await ask("/specs", {});
    if (specs.failure) { fail(specs.failure); return; }
    options(byId("format"), specs.map((each) => [each.name, each.format || each.name]), state.spec);
    const file = state.file;
    await openSpec(state.spec, !state.texts[state.spec]);
    if (file && file !== state.spec) await openFile(file);
  }
  start();
})();
