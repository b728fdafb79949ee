// Completion of comma-separated names, and a button that copies the secret.

for (const input of document.querySelectorAll("input[data-many]")) {
  const list = document.getElementById(input.getAttribute("list"));
  const names = [...list.options].map((option) => option.value);
  input.addEventListener("input", () => {
    const before = input.value.slice(0, input.value.lastIndexOf(",") + 1);
    const given = before === "" ? "" : `${before.trimEnd()} `;
    const chosen = new Set(before.split(",").map((name) => name.trim()));
    const options = names.filter((name) => !chosen.has(name)).map((name) => new Option("", given + name));
    list.replaceChildren(...options);
  });
}

for (const secret of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(secret.textContent);
    button.textContent = "Copied";
  });
  secret.after(button);
}
