// Search by picture: choose, paste or drop one. It is scaled down before it is sent.

const MAX_SIDE = 640;
const QUALITY = 0.9;

async function shrink(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
  return { blob, address: canvas.toDataURL("image/jpeg", 0.6) };
}

function imageIn(transfer) {
  return [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/"));
}

async function errorMessage(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return `search failed with status ${response.status}`;
  }
}

// `search` is called when the results must be refreshed; `failed` with an error message.
export function pictureSearch(form, { search, failed }) {
  const box = form.querySelector("[data-picture]");
  const input = box.querySelector("input[type=file]");
  const shown = box.querySelector("[data-shown]");
  let chosen = null;
  box.hidden = false;

  async function setPicture(file) {
    if (!file) return;
    try {
      const { blob, address } = await shrink(file);
      chosen = blob;
      shown.querySelector("img").src = address;
      shown.hidden = false;
      form.querySelector('input[name=kind][value="library"]').checked = true;
      form.querySelector(".likeness")?.remove();
      search();
    } catch {
      failed("The browser cannot read this picture.");
    }
  }

  input.addEventListener("change", () => setPicture(input.files[0]));
  shown.querySelector("button").addEventListener("click", () => {
    chosen = null;
    shown.hidden = true;
    input.value = "";
    search();
  });
  document.addEventListener("paste", (event) => {
    const file = imageIn(event.clipboardData);
    if (!file) return;
    event.preventDefault();
    setPicture(file);
  });
  document.addEventListener("dragover", (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("dropping");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    const file = imageIn(event.dataTransfer);
    if (file) setPicture(file);
    else failed("Not a picture.");
  });

  return {
    // The response, or null without a picture.
    async response(query, signal) {
      const kind = form.querySelector("input[name=kind]:checked")?.value;
      if (!chosen || kind !== "library") return null;
      const headers = { "content-type": "image/jpeg", accept: "application/json" };
      const response = await fetch(`/search/picture?${query}`, { method: "POST", body: chosen, headers, signal });
      if (!response.ok) throw new Error(await errorMessage(response), { cause: response.status });
      return response;
    },
    get active() {
      return chosen !== null && form.querySelector("input[name=kind]:checked")?.value === "library";
    },
  };
}
