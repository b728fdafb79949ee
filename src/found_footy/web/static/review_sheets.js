// Thumbnails of clips from their sprite sheets.

const images = new Map(); // by URL; the oldest is evicted first
const MAX_IMAGES = 120;

export function sheetImage(url) {
  let image = images.get(url);
  if (!image) {
    image = new Image();
    image.decoding = "async";
    image.src = url;
    image.ready = image.decode().catch(() => {});
    images.set(url, image);
    if (images.size > MAX_IMAGES) images.delete(images.keys().next().value);
  }
  return image;
}

export function preloadSheets(clip) {
  for (const sheet of clip.sheets) sheetImage(sheet.url);
}

/** Sheet and position of this frame of the clip. */
function cellOf(clip, frame) {
  const wanted = clip.first + frame;
  const sheet =
    clip.sheets.find((each) => wanted >= each.first && wanted < each.first + each.frames) ?? clip.sheets.at(-1);
  if (!sheet) return null;
  const number = Math.max(0, Math.min(sheet.count - 1, Math.floor((wanted - sheet.first) / sheet.every)));
  return { sheet, left: (number % sheet.columns) * sheet.width, top: Math.floor(number / sheet.columns) * sheet.height };
}

/** Draw a frame of a clip. Returns whether its sheet is loaded; otherwise `later` is called once it is. */
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
