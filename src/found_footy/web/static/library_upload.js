// Sends a film piece by piece, and shows how much of it is there. Without scripts there is `footy submit`.

const box = document.querySelector("[data-upload]");
const form = box.closest("form");
const input = box.querySelector("[data-file]");
const drop = box.querySelector(".drop");
const sending = box.querySelector("[data-sending]");
const bar = sending.querySelector("progress");
const share = sending.querySelector("[data-share]");
const problem = box.querySelector("[data-problem]");
const most = Number(box.dataset.most);
let request = null;

box.hidden = false;

function send(file) {
  if (!file || request) return;
  complain("");
  if (file.size === 0) return complain("This file is empty.");
  if (file.size > most) return complain(`This file is too large (${Math.ceil(file.size / 1e6)} MB).`);
  const given = new FormData(form);
  const query = new URLSearchParams({ name: file.name.slice(-200) });
  for (const name of ["title", "player", "team", "competition", "minute"]) {
    if (given.get(name)) query.set(name, given.get(name));
  }
  request = new XMLHttpRequest(); // fetch does not tell how much was sent
  request.open("POST", `${box.dataset.upload}?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.setRequestHeader("X-CSRF-Token", box.dataset.csrf);
  request.upload.addEventListener("progress", ({ loaded, total }) => show(total ? (100 * loaded) / total : 0));
  request.addEventListener("load", arrived);
  request.addEventListener("error", () => stopped("Connection lost. Choose the file again."));
  request.addEventListener("abort", () => stopped(""));
  sending.hidden = false;
  drop.hidden = true;
  show(0);
  request.send(file);
}

function show(percent) {
  bar.value = percent;
  share.textContent = percent < 100 ? `${Math.floor(percent)} %` : "being stored…";
}

function arrived() {
  let answer = {};
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    // Whatever stands between us and the server may answer in its own words.
  }
  if (request.status === 201) location.assign(`/library/sources/${answer.id}?done=submitted`);
  else stopped(answer.error?.message ?? `Server error ${request.status}.`);
}

function stopped(why) {
  request = null;
  sending.hidden = true;
  drop.hidden = false;
  input.value = "";
  complain(why);
}

function complain(words) {
  problem.textContent = words;
  problem.hidden = words === "";
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
