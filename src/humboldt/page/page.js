"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const element = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const said = document.getElementById("said");
  const say = (text) => {
    said.textContent = text;
    said.classList.add("on");
    setTimeout(() => said.classList.remove("on"), 1600);
  };

  // Colours follow the page, by variables, so that themes and print need no new drawing.
  const page = {
    background: null,
    style: { "guide-label": { fill: "var(--soft)" }, "guide-title": { fill: "var(--ink)" } },
    axis: { labelColor: "var(--soft)", titleColor: "var(--ink)", gridColor: "var(--line)", gridOpacity: 0.7, domainColor: "var(--line)", tickColor: "var(--line)", titleFontWeight: "normal" },
    legend: { labelColor: "var(--ink)", titleColor: "var(--soft)", titleFontWeight: "normal" },
    header: { labelColor: "var(--ink)", titleColor: "var(--ink)" },
    title: { color: "var(--ink)" }, text: { color: "var(--ink)" }, rule: { color: "var(--ink)" }, tick: { color: "var(--ink)" },
    view: { stroke: "var(--line)" },
  };
  const white = { background: "white" };

  // Rows of figures come as columns, which are shorter.
  const valuesOf = ({ columns, rows }) => rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]).filter((pair) => pair[1] !== null)));
  const whole = (spec) => ({ ...structuredClone(spec), data: { values: valuesOf(spec.data) } });
  const rowsOf = (spec) => valuesOf(spec.data).filter((row) => row.what === "data").map(({ what, ...row }) => row);

  // Figures are drawn when they come near the window; those that were drawn are told what is lit.
  const views = new Map();
  let picked = [];
  const fitted = (spec, width) => {
    const made = whole(spec);
    if (made.facet && made.spec.height.step) {  // a line for each model: narrow panels beside their names
      const names = rowsOf(spec).map((row) => String(row.model).length);
      const room = width - 6.5 * Math.max(...names) - 24;
      made.columns = Math.max(1, Math.min(5, Math.floor(room / 118)));
      made.spec.width = Math.min(210, Math.floor(room / made.columns) - 18);
    } else if (made.facet) {
      const column = made.facet.field, room = width - (width > 600 ? 170 : 60);
      const panels = new Set(rowsOf(spec).map((row) => row[column])).size;
      made.columns = Math.max(1, Math.min(4, panels, Math.floor(room / 250)));
      made.spec.width = Math.max(170, Math.min(420, Math.floor(room / made.columns) - 28));
    } else {
      made.width = Math.max(170, Math.min(900, width - (width > 600 ? 210 : 60)));
    }
    if (width <= 600) made.config = { ...made.config, legend: { orient: "bottom", columns: 2 } };
    return made;
  };
  const draw = async (id) => {
    if (views.has(id)) return;
    views.set(id, null);
    const canvas = document.querySelector(`#${CSS.escape(id)} .canvas`);
    const spec = fitted(data.figures[id], canvas.clientWidth);
    const inner = element("div");  // Vega names what it draws into; the figure has a better name
    canvas.replaceChildren(inner);
    const made = await vegaEmbed(inner, spec, { actions: false, renderer: "svg", config: page, tooltip: { theme: "custom" } });
    views.set(id, made.view);
    tell(made.view);
    // A click on the legend lights up what it names; another click, or one on it again, goes back.
    for (const entry of $(".role-legend-entry", canvas)) {
      entry.style.cursor = "pointer";
      entry.addEventListener("click", (event) => {
        const label = event.target.closest(".role-scope, g")?.querySelector("text")?.textContent || event.target.textContent;
        if (label) toggle(label.trim());
      });
    }
    canvas.dataset.drawn = "yes";
  };
  const tell = (view) => view && view.signal("picked", picked).run();
  const toggle = (name) => {
    picked = picked.includes(name) ? picked.filter((other) => other !== name) : [...picked, name];
    for (const button of $(".light")) button.setAttribute("aria-pressed", picked.includes(button.dataset.family));
    document.documentElement.dataset.picked = picked.join("|");
    for (const view of views.values()) tell(view);
  };
  for (const button of $(".light")) button.addEventListener("click", () => toggle(button.dataset.family));
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target.id);
  }, { rootMargin: "600px" });
  for (const id of Object.keys(data.figures)) near.observe(document.getElementById(id));
  // Those in a folded part have no width yet; they are drawn when it is opened.
  const isFolded = (id) => document.getElementById(id).closest("details:not([open])") !== null;
  const drawAll = () => Promise.all(Object.keys(data.figures).filter((id) => !isFolded(id)).map(draw));
  window.humboldt = { drawAll, toggle, views };
  window.addEventListener("beforeprint", drawAll);

  // Themes.
  const theme = document.getElementById("theme");
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { theme.textContent = isDark() ? "light" : "dark"; theme.setAttribute("aria-pressed", isDark()); };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; name(); });
  name();

  // Files: figures as they would stand in a paper, tables as text.
  const save = (name, content, type) => {
    const link = element("a");
    link.href = type ? URL.createObjectURL(new Blob([content], { type })) : content;
    link.download = name;
    link.click();
    say(`Saved ${name}`);
  };
  const figureOf = (button) => button.closest("figure").id;
  for (const button of $("[data-save]")) button.addEventListener("click", async () => {
    const id = figureOf(button), kind = button.dataset.save, file = `${id}.${kind}`;
    if (!data.figures[id]) {
      const image = document.querySelector(`#${CSS.escape(id)} img`);
      if (kind === "svg") return save(file, image.src);
      const canvas = Object.assign(element("canvas"), { width: 2 * image.naturalWidth, height: 2 * image.naturalHeight });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return save(file, canvas.toDataURL("image/png"));
    }
    if (kind === "csv") {
      const rows = rowsOf(data.figures[id]), columns = [...new Set(rows.flatMap(Object.keys))];
      return save(file, csv([columns, ...rows.map((row) => columns.map((c) => row[c] ?? ""))]), "text/csv");
    }
    const made = await vegaEmbed(element("div"), whole(data.figures[id]), { actions: false, renderer: "svg", config: white });
    if (kind === "svg") save(file, await made.view.toSVG(), "image/svg+xml");
    else save(file, await made.view.toImageURL("png", 2));
    made.finalize();
  });
  const quoted = (text) => (/[",\n]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : String(text));
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  const latex = (text) => String(text).replace(/[\\{}$&#^_~%]/g, (c) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" }[c] || "\\" + c)).replaceAll("±", "$\\pm$").replaceAll("–", "--").replaceAll("−", "$-$").replaceAll("ε", "$\\varepsilon$").replaceAll("∞", "$\\infty$");
  const forms = {
    csv,
    markdown: (rows) => rows.map((row, i) => `| ${row.map((t) => t.replaceAll("|", "\\|")).join(" | ")} |` + (i ? "" : `\n|${" --- |".repeat(row.length)}`)).join("\n") + "\n",
    latex: (rows) => `\\begin{tabular}{l${"r".repeat(rows[0].length - 1)}}\n\\toprule\n` + rows.map((row, i) => row.map(latex).join(" & ") + " \\\\" + (i ? "" : "\n\\midrule")).join("\n") + "\n\\bottomrule\n\\end{tabular}\n",
  };
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return; } catch { /* not allowed here: the old way */ }
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  for (const button of $("[data-copy]")) button.addEventListener("click", async () => {
    const table = button.closest("figure").querySelector("table");
    const rows = $("tr", table).map((row) => [...row.children].map((cell) => (cell.querySelector(".value") || cell).textContent.trim()));
    const text = forms[button.dataset.copy](rows);
    window.humboldt.copied = text;
    await copy(text);
    say(`Copied as ${button.textContent}`);
  });

  // Where a number comes from.
  const dialog = document.getElementById("source"), body = document.getElementById("source-body");
  const lines = (pairs) => {
    const list = element("dl");
    for (const [label, text] of pairs) list.append(element("dt", label), element("dd", text));
    return list;
  };
  const command = (text, remark) => {
    const button = element("button", "copy the command");
    button.type = "button";
    button.addEventListener("click", async () => { await copy(text); say("Copied"); });
    const made = [element("pre", text), button];
    if (remark) made.push(element("p", remark, "note"));
    return made;
  };
  const open = (title, content) => {
    document.getElementById("source-title").textContent = title;
    body.replaceChildren(...content);
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.command) open("No results yet", [element("p", "This command fills the place:"), ...command(button.dataset.command)]);
    const found = data.provenance[button.dataset.key];
    if (!found) return;
    const spreads = found.spreads.flatMap((one) => [element("h4", `${one.measure} (${one.setting})`), lines(one.lines)]);
    const remark = found.exact ? "" : "This command does not make exactly these members: the study is half-finished, or was made by several commands.";
    open(found.title, [...command(found.command, remark), lines(found.lines), ...spreads]);
  });
})();
