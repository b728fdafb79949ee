// Video upload with progress. Without scripts, use `footy submit`.

const box = document.querySelector("[data-upload]");
const form = box.closest("form");
const input = box.querySelector("[data-file]");
const drop = box.querySelector(".drop");
const sending = box.querySelector("[data-sending]");
const bar = sending.querySelector("progress");
const share = sending.querySelector("[data-share]");
const problem = box.querySelector("[data-problem]");
const maxBytes = Number(box.dataset.maxBytes);
let request = null;

box.hidden = false;

function send(file) {
  if (!file || request) return;
  showProblem("");
  if (file.size === 0) return showProblem("This file is empty.");
  if (file.size > maxBytes) return showProblem(`This file is too large (${Math.ceil(file.size / 1e6)} MB).`);
  const fields = new FormData(form);
  const query = new URLSearchParams({ name: file.name.slice(-200) });
  for (const name of ["title", "player", "team", "competition", "minute"]) {
    if (fields.get(name)) query.set(name, fields.get(name));
  }
  request = new XMLHttpRequest(); // fetch has no upload progress
  request.open("POST", `${box.dataset.upload}?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.setRequestHeader("X-CSRF-Token", box.dataset.csrf);
  request.upload.addEventListener("progress", ({ loaded, total }) => show(total ? (100 * loaded) / total : 0));
  request.addEventListener("load", finish);
  request.addEventListener("error", () => stop("Connection lost. Choose the file again."));
  request.addEventListener("abort", () => stop(""));
  sending.hidden = false;
  drop.hidden = true;
  show(0);
  request.send(file);
}

function show(percent) {
  bar.value = percent;
  share.textContent = percent < 100 ? `${Math.floor(percent)} %` : "being stored…";
}

function finish() {
  let response = {};
  try {
    response = JSON.parse(request.responseText);
  } catch {
    // A proxy may respond with something else.
  }
  if (request.status === 201) location.assign(`/library/sources/${response.id}?done=submitted`);
  else stop(response.error?.message ?? `Server error ${request.status}.`);
}

function stop(message) {
  request = null;
  sending.hidden = true;
  drop.hidden = false;
  input.value = "";
  showProblem(message);
}

function showProblem(message) {
  problem.textContent = message;
  problem.hidden = message === "";
}

input.addEventListener("change", () => send(input.files[0]));
sending.querySelector("[data-stop]").addEventListener("click", () => request?.abort());
for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  send(event.dataTransfer.files[0]);
});
window.addEventListener("beforeunload", (event) => request && request.readyState < 4 && event.preventDefault());
