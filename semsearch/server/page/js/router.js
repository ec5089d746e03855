/** The hash router: `#/search?q=…` shows the view `search` with its parameters. */

import { fill } from "./dom.js";

/**
 * What a view's `mount` returns: a function that ends the view, or that and one that shows other parameters without
 * beginning anew.
 * @typedef {(() => void) | {unmount: () => void, update: (params: URLSearchParams) => void}} Mounted
 */
/** @typedef {{mount: (container: HTMLElement, params: URLSearchParams) => Mounted | Promise<Mounted>}} View */
/** @typedef {{name: string, label: string | null, load: () => Promise<View>}} Route */

/** The address of a view. @param {string} name @param {URLSearchParams | Record<string, string>} [params] */
export function addressOf(name, params = {}) {
  const query = new URLSearchParams(params).toString();
  return `#/${name}${query ? `?${query}` : ""}`;
}

/** The name and the parameters of a view's address. @param {string} hash */
export function parseAddress(hash) {
  const [, name = "", query = ""] = /^#\/([^?]*)(?:\?(.*))?$/s.exec(hash) ?? [];
  return { name, params: new URLSearchParams(query) };
}

/**
 * Go to a view's address. `replace` leaves no step to go back to; without `tell` the view, which knows, is not told.
 * @param {string} address @param {{replace?: boolean, tell?: boolean}} [how]
 */
export function go(address, { replace = false, tell = true } = {}) {
  if (address !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", address);
  if (tell) dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * Show the view of the address in a container, now and whenever it changes.
 * @param {HTMLElement} container @param {Route[]} routes @param {(route: Route) => void} shown
 * @param {(container: HTMLElement, problem: unknown) => void} failed
 */
export function startRouter(container, routes, shown, failed) {
  let turn = 0;
  let current = "";
  /** @type {Mounted | null} */
  let mounted = null;
  addEventListener("hashchange", () => void show());
  void show();

  async function show() {
    const { name, params } = parseAddress(location.hash);
    const route = routes.find((each) => each.name === name);
    if (!route) return missing();
    if (current === name && mounted && typeof mounted !== "function") return mounted.update(params);
    const mine = ++turn;
    leave();
    current = name;
    try {
      const view = await route.load();
      if (mine !== turn) return;
      fill(container);
      shown(route);
      const made = await view.mount(container, params);
      if (mine === turn) mounted = made;
      else endView(made);
    } catch (problem) {
      if (mine === turn) failed(container, problem);
    }
  }

  function missing() {
    if (location.hash === "" || location.hash.startsWith("#/")) go(addressOf(routes[0].name), { replace: true });
  }

  function leave() {
    if (mounted) endView(mounted);
    mounted = null;
  }
}

/** End a view. @param {Mounted} view */
export function endView(view) {
  if (typeof view === "function") view();
  else view.unmount();
}
