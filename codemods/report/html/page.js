
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  // A page opened from a file may have no storage: then nothing is remembered.
  const store = {
    get(key) { try { return localStorage.getItem(`bufcb-${key}`); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(`bufcb-${key}`, value); } catch { /* not remembered */ } },
  };

  const files = all("section.file").map((element) => ({
    element,
    details: element.querySelector("details"),
    summary: element.querySelector("summary"),
    entry: document.querySelector(`#contents [data-file="${element.id}"]`),
    path: element.querySelector("h2").textContent.toLowerCase(),
    items: [],
    visible: true,
  }));
  const items = files.flatMap((file) => {
    file.items = all(".item", file.element).map((element) => ({
      element,
      file,
      focus: element.matches("details") ? element.firstElementChild : element,
      kind: element.dataset.kind,
      code: element.dataset.code || "",
      text: `${file.path}\n${element.textContent.toLowerCase()}`,
      visible: true,
    }));
    return file.items;
  });
  const query = byId("query"), code = byId("code"), chips = all(".chip"), shown = byId("shown");
  let current = null;

  // ------------------------------------------------------------------ filters
  const noun = items.some((item) => ["note", "failed"].includes(item.kind)) ? "remark" : "call site";
  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

  function report() {
    const visible = items.filter((item) => item.visible);
    const at = visible.indexOf(current);
    const where = at < 0 ? "" : `${at + 1} of `;
    shown.textContent = `${where}${plural(visible.length, noun)} in ${plural(files.filter((file) => file.visible).length, "file")}`;
  }

  function apply() {
    const kinds = new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.kind));
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtered = kinds.size > 0 || code.value !== "" || words.length > 0;
    for (const item of items) {
      item.visible = (!kinds.size || kinds.has(item.kind)) && (!code.value || item.code === code.value)
        && words.every((word) => item.text.includes(word));
      item.element.hidden = !item.visible;
    }
    for (const file of files) {
      // A file without remarks is found by its path alone.
      const own = !kinds.size && !code.value && words.every((word) => file.path.includes(word));
      file.visible = !filtered || own || file.items.some((item) => item.visible);
      file.element.hidden = !file.visible;
      file.entry.hidden = !file.visible;
    }
    byId("clear").hidden = !filtered;
    byId("nothing").hidden = files.some((file) => file.visible);
    report();
  }

  function clear() {
    query.value = "";
    code.value = "";
    for (const chip of chips) chip.ariaPressed = "false";
    apply();
  }

  let pending = 0;
  query.addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(apply, 120); });
  code.addEventListener("change", apply);
  byId("clear").addEventListener("click", () => { clear(); query.focus(); });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      apply();
    });
  }
  for (const button of all("button.code")) {
    button.title = "Show only these";
    button.addEventListener("click", () => { code.value = button.dataset.code; apply(); byId("files").scrollIntoView(); });
  }

  // ------------------------------------------------------------------ moving about
  function mark(item) {
    current?.element.classList.remove("current");
    current = item;
    current?.element.classList.add("current");
    report();
  }

  function go(element, focus) {
    focus.focus({ preventScroll: true });
    element.scrollIntoView({ block: element.matches(".item") ? "center" : "start" });
    try { history.replaceState(null, "", `#${element.id}`); } catch { /* the address stays */ }
  }

  // Where reading has got to: the current remark, else the first one that is still ahead on the screen.
  function step(by) {
    const visible = items.filter((item) => item.visible);
    if (!visible.length) return;
    let index = visible.indexOf(current);
    if (index >= 0) index += by;
    else {
      const ahead = visible.findIndex((item) => !(item.element.compareDocumentPosition(start()) & Node.DOCUMENT_POSITION_FOLLOWING));
      index = by > 0 ? (ahead < 0 ? visible.length - 1 : ahead) : (ahead < 0 ? visible.length : ahead) - 1;
    }
    const item = visible[Math.max(0, Math.min(visible.length - 1, index))];
    item.file.details.open = true;
    mark(item);
    go(item.element, item.focus);
  }

  function stepFile(by) {
    const visible = files.filter((file) => file.visible);
    if (!visible.length) return;
    const here = visible.findIndex((file) => file.element.contains(start()));
    const file = visible[here < 0 ? (by > 0 ? 0 : visible.length - 1) : Math.max(0, Math.min(visible.length - 1, here + by))];
    mark(null);
    go(file.element, file.summary);
  }

  // What has the focus, if that is in a file; else the file at the top of the screen.
  function start() {
    const active = document.activeElement;
    if (active?.closest?.("section.file")) return active;
    const file = files.find((each) => each.visible && each.element.getBoundingClientRect().bottom > 120);
    return scrollY > 200 && file ? file.element : byId("files");
  }

  const fileHere = () => files.find((file) => file.element.contains(start()));

  function toggleFolds() {
    const folds = all("details.fold", fileHere()?.element ?? byId("files"));
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  }

  // ------------------------------------------------------------------ viewed files
  const viewedKey = `viewed-${root.dataset.digest}`;
  const viewed = new Set((store.get(viewedKey) || "").split(" ").filter(Boolean));

  function showViewed(file) {
    const is = viewed.has(file.element.id);
    file.element.classList.toggle("viewed", is);
    file.entry.classList.toggle("viewed", is);
    return is;
  }

  function toggleViewed() {
    const file = fileHere();
    if (!file) return;
    if (!viewed.delete(file.element.id)) viewed.add(file.element.id);
    store.set(viewedKey, [...viewed].join(" "));
    file.details.open = !showViewed(file);
    mark(null);
    go(file.element, file.summary);
  }

  for (const file of files) if (showViewed(file)) file.details.open = false;

  // ------------------------------------------------------------------ keys
  const help = byId("help"), keys = byId("keys");
  keys.checked = store.get("keys") !== "off";
  keys.addEventListener("change", () => store.set("keys", keys.checked ? "on" : "off"));
  byId("help-button").addEventListener("click", () => help.showModal());
  help.addEventListener("click", (event) => { if (event.target === help) help.close(); });

  const commands = {
    j: () => step(1),
    k: () => step(-1),
    n: () => stepFile(1),
    p: () => stepFile(-1),
    e: toggleFolds,
    v: toggleViewed,
    "/": () => { query.focus(); query.select(); },
    "?": () => help.showModal(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.key === "Escape") {
      if (event.target === query && query.value === "") query.blur();
      else clear();
      return;
    }
    if (event.target.matches?.("input, select, textarea")) {
      if (event.target === query && event.key === "Enter") { clearTimeout(pending); apply(); query.blur(); mark(null); step(1); }
      return;
    }
    const command = keys.checked && Object.hasOwn(commands, event.key) ? commands[event.key] : null;
    if (command) {
      event.preventDefault();
      command();
    } else if (event.key === "Enter" && event.target.matches?.("div.item")) {
      // A remark with nothing to open: its file.
      event.preventDefault();
      const details = event.target.closest("section.file").querySelector("details");
      details.open = false;
      details.firstElementChild.focus();
    }
  });
  document.addEventListener("focusin", (event) => {
    const element = event.target.closest?.(".item");
    if (element && element !== current?.element) mark(items.find((item) => item.element === element));
  });

  // ------------------------------------------------------------------ colours
  const theme = byId("theme"), themes = ["system", "light", "dark"];
  function colour(name) {
    if (name === "system") delete root.dataset.theme;
    else root.dataset.theme = name;
    theme.textContent = `Colours: ${name}`;
  }
  let chosen = themes.includes(store.get("theme")) ? store.get("theme") : "system";
  theme.addEventListener("click", () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length];
    store.set("theme", chosen);
    colour(chosen);
  });
  colour(chosen);

  // ------------------------------------------------------------------ where the reader is
  const onScreen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) onScreen.add(entry.target); else onScreen.delete(entry.target);
    }
    const top = files.find((file) => onScreen.has(file.element));
    for (const file of files) {
      const is = file === top;
      if (is === file.entry.classList.contains("current")) continue;
      file.entry.classList.toggle("current", is);
      if (is) file.entry.firstElementChild.setAttribute("aria-current", "true");
      else file.entry.firstElementChild.removeAttribute("aria-current");
    }
  }, { rootMargin: "-15% 0px -60% 0px" });
  for (const file of files) observer.observe(file.element);

  // A link to a line or a remark opens what it is in.
  function follow() {
    let target = null;
    try { target = byId(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    const file = files.find((each) => target && each.element.contains(target));
    if (!file) return;
    file.details.open = true;
    const item = items.find((each) => each.element === target);
    if (item) mark(item);
    target.scrollIntoView({ block: target === file.element ? "start" : "center" });
  }
  addEventListener("hashchange", follow);

  root.classList.add("live");
  for (const element of all(".scripted")) element.hidden = false;
  apply();
  follow();
})();
