// Plays the best clip of a goal in a dialog. Without scripts, the link opens the file.

export function playsIn(dialog) {
  const video = dialog.querySelector("video");

  function play(shot) {
    const goal = shot.closest("[data-goal]");
    const match = shot.closest(".match");
    const [home, away] = match.querySelectorAll("h3 span");
    const [who, state] = goal.querySelectorAll("p");
    dialog.querySelector("h2").textContent = who.textContent;
    dialog.querySelector("[data-about]").textContent =
      `${home.textContent} ${state.querySelector("em").textContent} ${away.textContent}`;
    dialog.querySelector("[data-goal-page]").href = who.querySelector("a").href;
    video.poster = shot.querySelector("img").src;
    video.src = shot.href;
    dialog.showModal();
    video.focus();
    // If the browser blocks autoplay, its controls remain.
    video.play().catch(() => {});
  }

  dialog.addEventListener("close", () => {
    video.pause();
    video.removeAttribute("src");
    video.load();
  });

  document.addEventListener("click", (event) => {
    const shot = event.target.closest?.("a.shot");
    if (!shot || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    play(shot);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || !event.target.matches?.("a.shot")) return;
    event.preventDefault();
    play(event.target);
  });
}

// Hide images that cannot be loaded.
document.addEventListener("error", (event) => event.target.matches?.(".shot img") && event.target.classList.add("gone"), true);
for (const each of document.querySelectorAll(".shot img")) {
  if (each.complete && each.naturalWidth === 0 && each.loading !== "lazy") each.classList.add("gone");
}
