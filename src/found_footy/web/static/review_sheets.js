// Pictures of clips out of their sprite sheets: small, and there at once.

const images = new Map(); // by address; the oldest goes first
const MOST_IMAGES = 120;

export function sheetImage(url) {
  let image = images.get(url);
  if (!image) {
    image = new Image();
    image.decoding = "async";
    image.src = url;
    image.ready = image.decode().catch(() => {});
    images.set(url, image);
    if (images.size > MOST_IMAGES) images.delete(images.keys().next().value);
  }
  return image;
}

export function preloadSheets(clip) {
  for (const sheet of clip.sheets) sheetImage(sheet.url);
}

/** The sheet that has this frame of the clip, and where in it. */
function cellOf(clip, frame) {
  const wanted = clip.first + frame;
  const sheet =
    clip.sheets.find((each) => wanted >= each.first && wanted < each.first + each.frames) ?? clip.sheets.at(-1);
  if (!sheet) return null;
  const number = Math.max(0, Math.min(sheet.count - 1, Math.floor((wanted - sheet.first) / sheet.every)));
  return { sheet, left: (number % sheet.columns) * sheet.width, top: Math.floor(number / sheet.columns) * sheet.height };
}

/** Draws a frame of a clip. Returns whether its sheet is there already; where it is not, `later` is called then. */
export function paint(canvas, clip, frame, later = () => {}) {
  const cell = cellOf(clip, frame);
  const name = cell ? `${cell.sheet.url} ${cell.left} ${cell.top}` : "";
  canvas.dataset.wanted = name;
  if (!cell) {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    canvas.dataset.painted = "";
    return false;
  }
  if (canvas.dataset.painted === name) return true;
  const image = sheetImage(cell.sheet.url);
  if (image.complete && image.naturalWidth) {
    draw(canvas, image, cell);
    canvas.dataset.painted = name;
    return true;
  }
  image.ready.then(() => {
    if (canvas.dataset.wanted !== name || !image.naturalWidth) return;
    paint(canvas, clip, frame);
    later();
  });
  return false;
}

function draw(canvas, image, { sheet, left, top }) {
  if (canvas.width !== sheet.width || canvas.height !== sheet.height) {
    canvas.width = sheet.width;
    canvas.height = sheet.height;
  }
  canvas.getContext("2d").drawImage(image, left, top, sheet.width, sheet.height, 0, 0, sheet.width, sheet.height);
}
