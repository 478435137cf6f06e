// JSON as the log has it: exact numbers, members in the order of their bytes, pointers, patches,
// and differences. Payloads are untrusted, so a member named `__proto__` is a member like any other.

/** @typedef {null | boolean | number | string | ExactNumber | any[] | {[name: string]: any}} JSONValue */
/** @typedef {{op: string, path: string, value?: any}} PatchOperation */
/** @typedef {{place: string, old?: any, new?: any}} Difference */

/** Keeps the digits of a number that a double would change, such as 1.0 or 2^64. */
export class ExactNumber {
  /** @param {string} digits */
  constructor(digits) {
    this.digits = digits;
  }

  toJSON() {
    return Reflect.get(JSON, "rawJSON")?.(this.digits) ?? Number(this.digits);
  }
}

/** Whether the browser gives the digits of a number. Without them, it rounds numbers that a double
    does not hold. */
export const isExactBrowser = isSourceGiven();

function isSourceGiven() {
  let isGiven = false;
  /** @type {(this: any, name: string, value: any, context?: {source?: string}) => any} */
  const look = (_, value, context) => {
    isGiven = context?.source === "1.0";
    return value;
  };
  JSON.parse("1.0", look);
  return isGiven;
}

// A number of JSON text that may not survive a double: many digits, an exponent, a trailing zero
// after the point, a very small number, or -0. A match in a string only costs time.
const inexactNumber = new RegExp(
  "(?:^|[:,[\\s])(?:-0|-?(?:[\\d.]{16,}|\\d+\\.\\d*0|0\\.0{5}\\d*|[\\d.]+[eE][+-]?\\d+))(?=[,\\]}\\s]|$)",
);

/** Parses JSON without loss.
    @param {string} text
    @returns {any} */
export function parseJSON(text) {
  if (!inexactNumber.test(text)) return JSON.parse(text);
  /** @type {(this: any, name: string, value: any, context?: {source?: string}) => any} */
  const exact = (_, value, context) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    const isKept = String(value) === context.source && !Object.is(value, -0);
    return isKept ? value : new ExactNumber(context.source);
  };
  return JSON.parse(text, exact);
}

/** Returns a whole number of a log, such as a sequence.
    @param {any} value
    @returns {number} */
export function numberOf(value) {
  return value instanceof ExactNumber ? Number(value.digits) : value;
}

/** @param {any} value
    @returns {value is {[name: string]: any}} */
export function isObject(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** Compares names by their UTF-8 bytes, which is the order of their code points.
    @param {string} a
    @param {string} b */
export function compareNames(a, b) {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left === right) continue;
    const [isLeftPair, isRightPair] = [left, right].map((unit) => unit >= 0xd800 && unit < 0xe000);
    if (isLeftPair !== isRightPair) return isLeftPair ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

/** Returns the names of an object's members in order.
    @param {object} object */
export function namesOf(object) {
  return Object.keys(object).sort(compareNames);
}

/** Returns the value as JSON text: compact, exact, with members in order.
    @param {any} value
    @returns {string} */
export function jsonText(value) {
  if (value instanceof ExactNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = namesOf(value).map((name) => `${JSON.stringify(name)}:${jsonText(value[name])}`);
  return `{${members.join(",")}}`;
}

/** Returns JSON text of about `length` characters at most, so that a large value costs little.
    @param {any} value
    @param {number} length */
export function shortText(value, length) {
  let text = "";
  /** @param {any} part */
  function write(part) {
    if (text.length > length) return;
    if (typeof part === "string") {
      text += JSON.stringify(part.slice(0, length + 1));
    } else if (Array.isArray(part)) {
      list("[", "]", part, write);
    } else if (isObject(part)) {
      list("{", "}", namesOf(part), (name) => {
        text += `${JSON.stringify(name)}: `;
        write(part[name]);
      });
    } else text += part instanceof ExactNumber ? part.digits : JSON.stringify(part);
  }
  /** @param {string} start
      @param {string} end
      @param {any[]} items
      @param {(item: any) => void} each */
  function list(start, end, items, each) {
    text += start;
    for (let index = 0; index < items.length && text.length <= length; index += 1) {
      if (index > 0) text += ", ";
      each(items[index]);
    }
    text += end;
  }
  write(value);
  return text.length > length ? `${text.slice(0, length)}\u2026` : text;
}

/** @param {any} a
    @param {any} b
    @returns {boolean} */
export function isSameJSON(a, b) {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return differences(a, b).length === 0;
}

// ---- Pointers (RFC 6901) ------------------------------------------------------------------------

// In an array, a name is an index, or `member=value`: the first element that is an object with this.

/** The members that name an element of an array for good. */
const identities = ["id", "key"];

/** @param {string} pointer
    @returns {string[]} */
export function namesIn(pointer) {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** @param {string} pointer
    @param {string | number} name */
export function appended(pointer, name) {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the value at a place; undefined if there is none.
    @param {any} root
    @param {string} pointer */
export function valueAt(root, pointer) {
  let value = root;
  for (const step of namesIn(pointer)) {
    const name = Array.isArray(value) ? indexNamed(value, step) : step;
    if (
      typeof value !== "object" ||
      value === null ||
      value instanceof ExactNumber ||
      (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) ||
      !Object.hasOwn(value, name)
    )
      return undefined;
    value = value[name];
  }
  return value;
}

/** Returns the index that a name in an array stands for.
    @param {any[]} elements
    @param {string} name */
function indexNamed(elements, name) {
  const end = name.indexOf("=");
  if (end < 0) return name;
  const [member, value] = [name.slice(0, end), name.slice(end + 1)];
  return String(elements.findIndex((element) => memberText(element, member) === value));
}

/** @param {any} element
    @param {string} member
    @returns {string | null} */
function memberText(element, member) {
  const value = isObject(element) && Object.hasOwn(element, member) ? element[member] : null;
  if (value instanceof ExactNumber) return /^-?\d+$/.test(value.digits) ? value.digits : null;
  return typeof value === "string" || Number.isSafeInteger(value) ? String(value) : null;
}

/** Returns a place with the elements of arrays by their ids, as far as they have any, so that it stays
    with them. An array in which two have one id keeps its indexes.
    @param {any} root
    @param {string} pointer */
export function lastingPlace(root, pointer) {
  let place = "";
  for (const name of namesIn(pointer)) {
    const value = valueAt(root, place);
    place = appended(place, Array.isArray(value) ? lastingName(value, name) : name);
  }
  return place;
}

/** @param {any[]} elements
    @param {string} name */
function lastingName(elements, name) {
  for (const member of identities) {
    const id = memberText(elements[Number(name)], member);
    if (id !== null && elements.filter((one) => memberText(one, member) === id).length === 1)
      return `${member}=${id}`;
  }
  return name;
}

/** Returns the place of the array before the first element that a pointer names by its id.
    @param {string} pointer */
export function placeOfArray(pointer) {
  const names = pointer.split("/");
  const at = names.findIndex((name) => name.includes("="));
  return at < 0 ? pointer : names.slice(0, at).join("/");
}

// ---- Patches (RFC 6902) -------------------------------------------------------------------------

/** Sets a member without calling a setter.
    @param {any} object
    @param {string} name
    @param {any} value */
function put(object, name, value) {
  if (name !== "__proto__") object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

/** @param {any} value */
function shallowCopy(value) {
  if (Array.isArray(value)) return value.slice();
  const copy = {};
  for (const name of Object.keys(value)) put(copy, name, value[name]);
  return copy;
}

/** Applies a patch of add, remove and replace, and returns the new root. Values that `owned` has
    were made in the same run and are changed in place. All others are copied first, so earlier
    states stay as they are.
    @template T
    @param {T} root
    @param {PatchOperation[]} patch
    @param {WeakSet<object>} owned
    @returns {T} */
export function patched(root, patch, owned) {
  /** @param {any} value */
  const own = (value) => {
    if (owned.has(value)) return value;
    const copy = shallowCopy(value);
    owned.add(copy);
    return copy;
  };
  let result = /** @type {any} */ (root);
  for (const { op, path, value } of patch) {
    const names = namesIn(path);
    const last = names.pop();
    if (last === undefined) {
      result = value;
      continue;
    }
    result = own(result);
    let parent = result;
    for (const name of names) {
      if (!Object.hasOwn(parent, name))
        throw new RangeError(`A patch names ${path}, which is not there.`);
      const child = own(parent[name]);
      put(parent, name, child);
      parent = child;
    }
    if (Array.isArray(parent)) {
      const index = last === "-" ? parent.length : Number(last);
      if (op === "add") parent.splice(index, 0, value);
      else if (op === "remove") parent.splice(index, 1);
      else parent[index] = value;
    } else if (op === "remove") delete parent[last];
    else put(parent, last, value);
  }
  return result;
}

// ---- Differences --------------------------------------------------------------------------------

/** Returns where `next` differs from `old`, in the order of places. Objects are compared member by
    member, arrays element by element, and other values as a whole.
    @param {any} old
    @param {any} next
    @param {string} [place]
    @param {Difference[]} [found]
    @returns {Difference[]} */
export function differences(old, next, place = "", found = []) {
  if (old === next) return found;
  if (Array.isArray(old) && Array.isArray(next)) {
    for (let index = 0; index < Math.max(old.length, next.length); index += 1) {
      differences(old[index], next[index], appended(place, index), found);
    }
  } else if (isObject(old) && isObject(next)) {
    const changed = Object.keys(old).filter(
      (name) => !Object.hasOwn(next, name) || next[name] !== old[name],
    );
    const added = Object.keys(next).filter((name) => !Object.hasOwn(old, name));
    for (const name of changed.concat(added).sort(compareNames)) {
      differences(own(old, name), own(next, name), appended(place, name), found);
    }
  } else if (
    !(old instanceof ExactNumber && next instanceof ExactNumber && old.digits === next.digits)
  ) {
    found.push({ place, old, new: next });
  }
  return found;
}

/** @param {{[name: string]: any}} object
    @param {string} name */
function own(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
