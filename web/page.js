// Keeps a page fresh: as soon as the service says that there is something new, and by the clock. Without this script browsers load it again by themselves.
"use strict";
(() => {
  const { events, every } = document.currentScript.dataset;
  let stream, waits, busy = false, told = 0, stale = "";

  // A reader's own time stands in the tooltip of each instant.
  const local = () => {
    for (const t of document.querySelectorAll("time")) {
      t.title = new Date(t.dateTime).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" }) + (t.title ? " · " + t.title : "");
    }
  };

  const typing = () => {
    const at = document.activeElement;
    return at && at.form && at.form.closest("main") !== null;
  };

  const say = (since) => {
    const p = document.getElementById("stale");
    if (p) {
      p.hidden = since === "";
      p.querySelector("b").textContent = since;
    }
  };

  const load = async () => {
    if (busy || document.hidden || typing() || !document.getSelection().isCollapsed) {
      return;
    }
    busy = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (answer.status === 401) {
        location.reload();
        return;
      }
      if (!answer.ok) {
        throw new Error(answer.status);
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.title = page.title;
      document.querySelector("body > header").replaceWith(page.querySelector("body > header"));
      document.querySelector("main").replaceWith(page.querySelector("main"));
      stale = "";
      local();
    } catch {
      stale = stale || new Date().toLocaleTimeString();
    }
    say(stale);
    busy = false;
  };

  // At most one page in two seconds, whatever happens; and a browser keeps few connections to one place, so a tab that nobody sees has none.
  const soon = () => {
    clearTimeout(waits);
    waits = setTimeout(() => { told = Date.now(); load(); }, Math.max(200, 2000 - (Date.now() - told)));
  };
  const listen = () => {
    if (document.hidden) {
      stream?.close();
      stream = undefined;
    } else if (!stream) {
      let first = true;
      stream = new EventSource(events);
      stream.onmessage = () => { if (!first) { soon(); } first = false; };
    }
  };

  local();
  listen();
  document.addEventListener("visibilitychange", () => { listen(); load(); });
  setInterval(load, every * 1000);
})();
