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
  const reader = /** @type {ReadableStream<BufferSource>} */ (answer.body).pipeThrough(new TextDecoderStream()).getReader();
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
async function ask(method, path, body, { signal, accept = "application/json" } = {}) {
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

// Questions in a row

const LONGEST_DELAY = 250; // milliseconds that a question waits for the next letter, where answers are slow

/**
 * Of several questions in a row only the last one's answer counts: those before it are ended and never shown.
 * @template Question, Answer
 */
export class Latest {
  #ending = new AbortController();
  #took = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {(question: Question, signal: AbortSignal) => Promise<Answer>} ask
   * @param {(question: Question, answer: Answer) => void} show
   * @param {(question: Question, problem: unknown) => void} failed
   */
  constructor(ask, show, failed) {
    this.ask = ask;
    this.show = show;
    this.failed = failed;
  }

  /** Ask at once, unless answers are slow: then after as long as the last one took. @param {Question} question */
  soon(question) {
    this.end();
    if (this.#took < 50) void this.#run(question, this.#ending.signal);
    else this.#timer = setTimeout(() => void this.#run(question, this.#ending.signal), Math.min(this.#took, LONGEST_DELAY));
  }

  /** Ask at once. @param {Question} question */
  now(question) {
    this.end();
    return this.#run(question, this.#ending.signal);
  }

  /** Have what was asked not be answered any more. */
  end() {
    clearTimeout(this.#timer);
    this.#ending.abort();
    this.#ending = new AbortController();
  }

  /** @param {Question} question @param {AbortSignal} signal */
  async #run(question, signal) {
    const began = performance.now();
    try {
      const answer = await this.ask(question, signal);
      if (signal.aborted) return;
      this.#took = performance.now() - began;
      this.show(question, answer);
    } catch (problem) {
      if (!signal.aborted && !isAborted(problem)) this.failed(question, problem);
    }
  }
}

// The indexes of the server

/** @typedef {{name: string, documents: number, passages: number, problem: string, roots: string[]}} IndexEntry */

/** The indexes of the server. @param {AbortSignal} signal @returns {Promise<IndexEntry[]>} */
export async function servedIndexes(signal) {
  return (await get("/v1/indexes", {}, { signal })).indexes;
}

/** The indexes of the server, asked for once, and which of them a question is for. */
export class ServedIndexes {
  /** @type {Promise<IndexEntry[]> | null} */
  #listing = null;
  /** @type {IndexEntry[] | null} those that are known by now */
  #known = null;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
  }

  /** All of them. */
  async all() {
    this.#listing ??= servedIndexes(this.signal);
    try {
      return (this.#known = await this.#listing);
    } catch (problem) {
      this.#listing = null;
      throw problem;
    }
  }

  /** The names of those to ask: if the address says which, without a look at what there is. @param {{indexes: string[]}} chosen */
  async asked({ indexes }) {
    if (indexes.length && !this.#known) return indexes;
    return askedOf(await this.all(), indexes);
  }

  /** Those to ask, as far as they are known. @param {{indexes: string[]}} chosen */
  entries({ indexes }) {
    const asked = askedOf(this.known, indexes);
    return this.known.filter(({ name }) => asked.includes(name));
  }

  get known() {
    return this.#known ?? [];
  }
}

/** Those that are chosen, or else all that have documents. @param {IndexEntry[]} served @param {string[]} chosen */
function askedOf(served, chosen) {
  const known = chosen.filter((name) => served.some((index) => index.name === name));
  return known.length ? known : served.filter(({ documents }) => documents > 0).map(({ name }) => name);
}

/** Names of indexes as a request has them. @param {string[]} asked */
export function asParameter(asked) {
  return asked.length === 1 ? asked[0] : asked.length ? asked : null;
}
