// The chosen theme, before anything is painted. A plain script: modules run too late for that.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // storage is switched off: the system's theme it is
}
