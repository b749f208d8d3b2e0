"use strict";
(function () {
  // Legends: a click on an entry hides every group of its series in that figure. What belongs to
  // two lines, such as their crossover, goes with either; what they share, with the last of them.
  const seriesOf = (group) => Array.from(group.classList).filter((name) => name.startsWith("series-"));
  function toggle(svg, entry) {
    const off = entry.classList.toggle("off");
    entry.setAttribute("aria-pressed", String(!off));
    const hidden = new Set(Array.from(svg.querySelectorAll(".entry.off")).flatMap(seriesOf));
    svg.querySelectorAll("g[class*=series-]:not(.entry)").forEach((group) => {
      const names = seriesOf(group);
      const gone = (name) => hidden.has(name);
      group.classList.toggle("hidden", group.classList.contains("shared") ? names.every(gone) : names.some(gone));
    });
  }

  // Zoom and move by the viewBox alone: nothing is drawn anew.
  function movable(figure, svg) {
    const whole = svg.getAttribute("viewBox").split(" ").map(Number);
    let box = whole.slice();
    const show = () => svg.setAttribute("viewBox", box.join(" "));
    function at(event) {
      const frame = svg.getBoundingClientRect();
      return [(event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height];
    }
    function zoom(factor, fx, fy) {
      const width = Math.min(whole[2], Math.max(whole[2] / 40, box[2] * factor));
      const height = width * whole[3] / whole[2];
      box = [box[0] + (box[2] - width) * fx, box[1] + (box[3] - height) * fy, width, height];
      keep();
    }
    function keep() {
      box[0] = Math.min(Math.max(box[0], whole[0]), whole[0] + whole[2] - box[2]);
      box[1] = Math.min(Math.max(box[1], whole[1]), whole[1] + whole[3] - box[3]);
      show();
    }
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== figure) {
        return; // the page scrolls until the figure has been clicked
      }
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, ...at(event));
    }, { passive: false });
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      held = event.target.closest(".entry") ? null : [event.clientX, event.clientY];
    });
    svg.addEventListener("pointermove", (event) => {
      if (held && box[2] < whole[2]) {
        const frame = svg.getBoundingClientRect();
        box[0] -= (event.clientX - held[0]) * box[2] / frame.width;
        box[1] -= (event.clientY - held[1]) * box[3] / frame.height;
        held = [event.clientX, event.clientY];
        keep();
      }
    });
    window.addEventListener("pointerup", () => { held = null; });
    svg.addEventListener("dblclick", () => { box = whole.slice(); show(); });
    figure.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") { zoom(0.8, 0.5, 0.5); }
      if (event.key === "-") { zoom(1.25, 0.5, 0.5); }
      if (event.key === "0" || event.key === "Escape") { box = whole.slice(); show(); }
    });
  }

  document.querySelectorAll("figure[data-figure]").forEach((figure) => {
    const svg = figure.querySelector("svg");
    movable(figure, svg);
    svg.querySelectorAll(".entry").forEach((entry) => {
      entry.setAttribute("role", "button");
      entry.setAttribute("tabindex", "0");
      entry.addEventListener("click", () => toggle(svg, entry));
      entry.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          toggle(svg, entry);
        }
      });
    });
  });

  // Tables: by number with its prefix where a cell begins with one, else by text.
  const SCALE = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824 };
  function key(text) {
    const found = /^[\[(]?([-+−]?[0-9][0-9.,]*)\s*(\S*)/.exec(text);
    if (!found) {
      return [1, text];
    }
    const value = Number(found[1].replace(/,/g, "").replace("−", "-"));
    return Number.isNaN(value) ? [1, text] : [0, value * (SCALE[found[2]] || 1)];
  }
  function order(a, b) {
    if (a[0] !== b[0]) { return a[0] - b[0]; }
    return a[0] === 0 ? a[1] - b[1] : a[1].localeCompare(b[1]);
  }
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = Array.from(table.querySelectorAll("thead th"));
    heads.forEach((head, column) => {
      function sort() {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const body = table.tBodies[0];
        Array.from(body.rows)
          .map((row, place) => ({ row, place, key: key(row.cells[column].textContent.trim()) }))
          .sort((a, b) => (up ? order(a.key, b.key) : order(b.key, a.key)) || a.place - b.place)
          .forEach((each) => body.appendChild(each.row));
      }
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") { sort(); } });
    });
    // Long tables: every word that is typed must be in a row that stays.
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length > 20) {
      const input = document.createElement("input");
      input.type = "search";
      input.className = "filter";
      input.placeholder = "show rows with, such as: pull 64 KiB";
      input.setAttribute("aria-label", "show rows with these words");
      const texts = rows.map((row) =>
        " " + Array.from(row.cells).map((cell) => cell.textContent.replace(/\u00a0/g, " ")).join("  ").toLowerCase() + " ");
      input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
        rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
      });
      table.parentElement.before(input);
    }
  });
})();
