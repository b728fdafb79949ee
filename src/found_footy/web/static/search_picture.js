// Search by picture: choose, paste or drop one. It is made small here, so that little is sent and nothing is kept.

const LONGEST = 640;
const QUALITY = 0.9;

async function small(file) {
  const drawn = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST / Math.max(drawn.width, drawn.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(drawn.width * scale));
  canvas.height = Math.max(1, Math.round(drawn.height * scale));
  canvas.getContext("2d").drawImage(drawn, 0, 0, canvas.width, canvas.height);
  drawn.close();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
  return { blob, address: canvas.toDataURL("image/jpeg", 0.6) };
}

function imageIn(transfer) {
  return [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/"));
}

async function said(answer) {
  try {
    return (await answer.json()).error.message;
  } catch {
    return `search failed with status ${answer.status}`;
  }
}

// `ask` is called whenever the results have to be found anew; `failed` with words for people.
export function pictureSearch(form, { ask, failed }) {
  const place = form.querySelector("[data-picture]");
  const input = place.querySelector("input[type=file]");
  const shown = place.querySelector("[data-shown]");
  let chosen = null;
  place.hidden = false;

  async function take(file) {
    if (!file) return;
    try {
      const { blob, address } = await small(file);
      chosen = blob;
      shown.querySelector("img").src = address;
      shown.hidden = false;
      form.querySelector('input[name=kind][value="library"]').checked = true;
      form.querySelector(".likeness")?.remove();
      ask();
    } catch {
      failed("The browser cannot read this picture.");
    }
  }

  input.addEventListener("change", () => take(input.files[0]));
  shown.querySelector("button").addEventListener("click", () => {
    chosen = null;
    shown.hidden = true;
    input.value = "";
    ask();
  });
  document.addEventListener("paste", (event) => {
    const file = imageIn(event.clipboardData);
    if (!file) return;
    event.preventDefault();
    take(file);
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
    if (file) take(file);
    else failed("Not a picture.");
  });

  return {
    // The answer, or null where no picture is searched for.
    async answer(query, signal) {
      const kind = form.querySelector("input[name=kind]:checked")?.value;
      if (!chosen || kind !== "library") return null;
      const headers = { "content-type": "image/jpeg", accept: "application/json" };
      const answer = await fetch(`/search/picture?${query}`, { method: "POST", body: chosen, headers, signal });
      if (!answer.ok) throw new Error(await said(answer), { cause: answer.status });
      return answer;
    },
    get active() {
      return chosen !== null && form.querySelector("input[name=kind]:checked")?.value === "library";
    },
  };
}
