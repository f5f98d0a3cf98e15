// How numbers and places are written.

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

// 1536 as "1.50 KiB".
function bytesText(bytes, digits = 2) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return (unit ? value.toFixed(digits) : String(value)) + ' ' + units[unit];
}

function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function exactText(bytes) {
  return bytes < 1024 ? bytesText(bytes) : bytesText(bytes) + ' (' + countText(bytes) + ' B)';
}

function percentText(part, whole) {
  return (whole > 0 ? (100 * part) / whole : 0).toFixed(1) + ' %';
}

function counted(count, word) {
  return countText(count) + ' ' + word + (count === 1 ? '' : 's');
}

function addressText(address) {
  return '0x' + address.toString(16);
}

// The last part of a path: "/a/b/model.py:12" as "model.py:12".
function shortPlace(place) {
  const slash = place.lastIndexOf('/');
  return slash < 0 ? place : place.slice(slash + 1);
}

// An element; every text that comes from the run goes through textContent and is never parsed as markup.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'data') Object.assign(made.dataset, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}
