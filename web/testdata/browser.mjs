// Looks at pages in a browser, each on a desktop and a phone, light and dark: axe finds nothing, nothing is wider than the screen, nothing is refused
// by the content security policy. Then it logs in, and sees a page renew itself. Its input is JSON: {modules, chromium, shots, pages: {name: url}, login: url, news: url}.
import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";

const input = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(input.modules + "/");
const { default: puppeteer } = await import(require.resolve("puppeteer-core"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const faults = [];
const browser = await puppeteer.launch({ executablePath: input.chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], protocolTimeout: 600000 });

const open = async (width, height, scheme) => {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.setBypassCSP(false);
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.setDefaultTimeout(120000);
  page.on("console", (m) => { if (m.type() === "error" && !m.text().includes("status of 40")) { faults.push(`${page.url()}: ${m.text()}`); } });
  page.on("pageerror", (e) => faults.push(`${page.url()}: ${e}`));
  if (process.env.TRACE) { page.on("request", (r) => console.log(r.url())); page.on("console", (m) => console.log(m.text())); }
  page.on("dialog", (d) => { faults.push(`${page.url()}: a script of somebody's ran`); d.dismiss(); });
  return page;
};

for (const [name, url] of Object.entries(input.pages)) {
  for (const [device, width, height] of [["desktop", 1280, 900], ["phone", 360, 740]]) {
    for (const scheme of ["light", "dark"]) {
      const page = await open(width, height, scheme);
      await page.goto(url, { waitUntil: "load" });
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await axe.run()).violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) {
        found.push(`${wide} px wider than the screen`);
      }
      faults.push(...found.map((text) => `${name}, ${device}, ${scheme}: ${text}`));
      if (input.shots) {
        mkdirSync(input.shots, { recursive: true });
        await page.screenshot({ path: `${input.shots}/${name}-${device}-${scheme}.png`, fullPage: name !== "thousand" });
      }
      await page.browserContext().close();
    }
  }
}

// Somebody logs in, and comes to the page that they wanted to see.
let page = await open(1280, 900, "light");
await page.goto(input.login, { waitUntil: "load" });
await Promise.all([page.waitForNavigation(), page.click("a.button")]);
await page.type("input[name=login]", "alice");
await Promise.all([page.waitForNavigation(), page.click("button")]);
const text = await page.evaluate(() => document.body.innerText);
if (page.url() !== input.login || !text.includes("alice") || !text.includes("held by")) {
  faults.push(`logged in, at ${page.url()}: ${text}`);
}
if (input.shots) {
  await page.screenshot({ path: `${input.shots}/logged-in.png`, fullPage: true });
}
await Promise.all([page.waitForNavigation(), page.click("form.out button")]);
if (!(await page.evaluate(() => document.body.innerText)).includes("Log in with GitHub")) {
  faults.push("who left is still logged in");
}

// A page renews itself: the document stays the same, and what it says does not.
await page.browserContext().close();
page = await open(1280, 900, "light");
await page.goto(input.news, { waitUntil: "load" });
await page.evaluate(() => { window.same = true; });
const before = await page.evaluate(() => document.querySelector("main").innerText);
const began = Date.now();
await page.waitForFunction((was) => document.querySelector("main").innerText !== was, { polling: 50 }, before).catch((e) => faults.push(`nothing was renewed: ${e}`));
const took = Date.now() - began;
if (!(await page.evaluate(() => window.same === true))) {
  faults.push("the page was loaded again instead of renewed");
}

await browser.close();
for (const fault of faults) {
  console.log(fault);
}
console.log(`a change was seen after ${took} ms`);
process.exit(faults.length ? 1 : 0);
