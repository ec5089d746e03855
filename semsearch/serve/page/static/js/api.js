// @ts-check
/**
 * The one place that asks the server. Waits and asks again where the server is overloaded, asks the user for the token
 * where one is needed, and throws an `ApiProblem` that says in words what went wrong.
 */

/** @typedef {{signal?: AbortSignal, accept?: string}} Asking */

const MOST_TRIES = 5; // of a request that the server is too busy for
const LONGEST_WAIT = 10; // seconds

/** A problem that the server told, or that it could not be reached (status 0). */
export class ApiProblem extends Error {
  /** @param {number} status @param {string} title @param {string} detail @param {string} [kind] */
  constructor(status, title, detail, kind = "") {
    super(detail);
    this.name = "ApiProblem";
    this.status = status;
    this.title = title;
    this.kind = kind; // the class in semsearch.errors
  }
}

/** Whether a problem is only that somebody has ended the request. @param {any} problem */
export function isAborted(problem) {
  return problem?.name === "AbortError";
}

/** GET as JSON; a list is given item by item, null is left out. @param {string} path @param {Record<string, any>} [query] @param {Asking} [asking] */
export async function get(path, query = {}, asking = {}) {
  return (await ask("GET", addressed(path, query), undefined, asking)).json();
}

/** POST JSON, answered by JSON. @param {string} path @param {any} body @param {Asking} [asking] */
export async function post(path, body, asking = {}) {
  return (await ask("POST", path, body, asking)).json();
}

/**
 * POST JSON to work that takes long, answered by server-sent events: `told` is given the name and the data of each.
 * @param {string} path @param {any} body @param {(name: string, data: any) => void} told @param {Asking} [asking]
 */
export async function follow(path, body, told, asking = {}) {
  const answer = await ask("POST", path, body, { ...asking, accept: "text/event-stream" });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, name = "", data = "null"] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      told(name, JSON.parse(data));
    }
  }
}

/** GET bytes: a picture, points. @param {string} path @param {Record<string, any>} [query] @param {Asking} [asking] */
export async function getBlob(path, query = {}, asking = {}) {
  return (await ask("GET", addressed(path, query), undefined, asking)).blob();
}

/** A path of the API with a part that may hold anything, as /v1/documents/{id} has. @param {string} path @param {string} id */
export function withId(path, id) {
  return `${path}/${id.split("/").map(encodeURIComponent).join("/")}`;
}

/** @param {string} path @param {Record<string, any>} query */
function addressed(path, query) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) params.append(name, String(each));
  }
  return params.size ? `${path}?${params}` : path;
}

/**
 * Send a request until it is answered. Raises ApiProblem, and AbortError where `signal` says so.
 * @param {string} method @param {string} path @param {any} body @param {Asking} asking @returns {Promise<Response>}
 */
export async function ask(method, path, body, { signal, accept = "application/json" } = {}) {
  for (let tries = 1; ; tries++) {
    const sent = token;
    const answer = await send(method, path, body, accept, signal);
    if (answer.ok) return answer;
    if (answer.status === 401) await newToken(answer, sent, signal);
    else if (isBusy(answer) && tries < MOST_TRIES) await pause(secondsToWait(answer), signal);
    else throw await problemOf(answer);
  }
}

/** @param {string} method @param {string} path @param {any} body @param {string} accept @param {AbortSignal} [signal] */
async function send(method, path, body, accept, signal) {
  /** @type {Record<string, string>} */
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (problem) {
    if (isAborted(problem)) throw problem;
    throw new ApiProblem(0, "The server does not answer", "It may have been stopped; semsearch serve starts it again.");
  }
}

/** @param {Response} answer */
function isBusy(answer) {
  return answer.status === 429 || answer.status === 503;
}

/** @param {Response} answer */
function secondsToWait(answer) {
  return Math.min(Number(answer.headers.get("Retry-After")) || 1, LONGEST_WAIT);
}

/** Wait, unless somebody ends it. @param {number} seconds @param {AbortSignal} [signal] @returns {Promise<void>} */
export function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("ended", "AbortError"));
    });
  });
}

/** @param {Response} answer */
async function problemOf(answer) {
  const told = await answer.json().catch(() => ({}));
  return new ApiProblem(answer.status, told.title ?? answer.statusText, told.detail ?? "", told.error ?? "");
}

// The token

let token = keptToken();
/** @type {(why: string) => Promise<string>} */
let askUser = async (why) => {
  throw new ApiProblem(401, "Unauthorized", why);
};
/** @type {Promise<string> | null} */
let asked = null;

/** Say how the user is asked for the token; the function is given the reason. @param {(why: string) => Promise<string>} how */
export function askTokenBy(how) {
  askUser = how;
}

/**
 * Ask for the token, once for all requests that wait for it; not if another one is known by now than was sent.
 * @param {Response} answer @param {string} sent @param {AbortSignal} [signal]
 */
async function newToken(answer, sent, signal) {
  const problem = await problemOf(answer);
  if (token === sent) {
    asked ??= askUser(problem.message).finally(() => (asked = null));
    keepToken(await asked);
  }
  signal?.throwIfAborted();
}

function keptToken() {
  try {
    return sessionStorage.getItem("token") ?? "";
  } catch {
    return ""; // storage is switched off
  }
}

/** @param {string} given */
function keepToken(given) {
  token = given;
  try {
    sessionStorage.setItem("token", given);
  } catch {
    // storage is switched off: until the page is left, then
  }
}
