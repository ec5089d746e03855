// @ts-check
/** The dialog that asks for the server's token, where the server wants it. */

import { element } from "./dom.js";

/** Ask the user for the token. @param {string} why @returns {Promise<string>} */
export function askForToken(why) {
  const field = element("input", { class: "field mono", id: "token", type: "password", autocomplete: "off", required: true });
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", { id: "token-title" }, "This server asks for its token"),
    element("p", {}, "On the machine where it runs, ", element("code", {}, "semsearch serve --show-token"), " prints it."),
    element("p", { class: "small soft" }, /wrong/.test(why) && "The token that was sent is wrong."),
    element("label", { for: "token" }, "Token"),
    field,
    element("div", { class: "row" }, element("button", { class: "button main" }, "Continue")),
    element("p", { class: "small soft" }, "It is kept until this tab is closed."),
  );
  const dialog = element("dialog", { "aria-labelledby": "token-title", on: { cancel: (event) => event.preventDefault() } }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(field.value.trim());
    });
  });
}
