/** Longest control sequence that is held back until it is complete. A longer one is judged by its beginning. */
const MAX_SEQUENCE_BYTES = 4096

const [ESC, BEL, CAN, SUB, ENQ] = [0x1b, 0x07, 0x18, 0x1a, 0x05]
/** First byte of a control character of the second set in UTF-8, and its sequences as their two-byte forms. */
const C1 = 0xc2
const C1_SEQUENCES: Readonly<Record<number, string>> = { 144: 'P', 155: '[', 157: ']' }
/** Sequences that end with a terminator rather than with a final byte. */
const STRING_SEQUENCES = 'P]X^_'

/**
 * Modes in which a terminal types by itself or looks broken afterwards: application keys, a hidden cursor, mouse,
 * focus, alternate screen and bracketed paste. Each with the value that a terminal starts with.
 */
const PRIVATE_MODES: ReadonlyMap<number, boolean> = new Map([
  [1, false],
  [25, true],
  ...[9, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1049, 2004].map(
    (mode): [number, boolean] => [mode, false],
  ),
])

/** Requests that a terminal answers by typing. The answers of these contain what the program has chosen, or secrets. */
const REFUSED_REQUESTS: readonly RegExp[] = [
  // The title of the window and of its icon.
  /^\[2[01]t$/,
  // The clipboard. One that names no selection within the longest sequence is refused too.
  /^\]52;[^;]*(?:;\?|$)/,
]
/** Other requests that a terminal answers by typing: what it is, where the cursor is, which colours it has. */
const REQUESTS: readonly RegExp[] = [
  /^\[[?>=]?[\d;]*[cnu]$/,
  /^\[[\d;]*t$/,
  /^\[\??\d*\$p$/,
  /^\][^?]*;\?/,
  /^P[$+]q/,
]

/**
 * The output of a command on its way to a terminal. It leaves out requests whose answers would be harmful, and notes
 * what has to be reset when the command ends.
 */
export class TerminalOutput {
  readonly #modes = new Map<number, boolean>()
  #pending = Buffer.alloc(0)
  #keyboardLevels = 0
  #hasRequests = false

  /** True if the terminal may still type answers to requests of the command. */
  get hasRequests(): boolean {
    return this.#hasRequests
  }

  /** Returns the part of the output that the terminal may see now. An incomplete sequence waits for its rest. */
  filter(chunk: Uint8Array): Uint8Array {
    const bytes = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk])
    this.#pending = Buffer.alloc(0)
    const passed: Uint8Array[] = []
    let start = 0
    for (let position = findControl(bytes, 0); position !== -1; position = findControl(bytes, position)) {
      const end = findSequenceEnd(bytes, position)
      if (end === undefined && bytes.length - position <= MAX_SEQUENCE_BYTES) {
        passed.push(bytes.subarray(start, position))
        this.#pending = Buffer.from(bytes.subarray(position))
        return Buffer.concat(passed)
      }
      const next = end ?? bytes.length
      if (!this.#inspect(readSequence(bytes.subarray(position, next)))) {
        passed.push(bytes.subarray(start, position))
        start = next
      }
      position = next
    }
    return start === 0 ? bytes : Buffer.concat([...passed, bytes.subarray(start)])
  }

  /** Returns the sequences that bring the terminal back to the state before the command. */
  reset(): string {
    const changed = [...this.#modes].filter(([mode, isSet]) => isSet !== PRIVATE_MODES.get(mode))
    this.#modes.clear()
    this.#hasRequests = false
    const keyboard = '\x1b[<u'.repeat(this.#keyboardLevels)
    this.#keyboardLevels = 0
    return keyboard + changed.map(([mode, isSet]) => `\x1b[?${mode}${isSet ? 'l' : 'h'}`).join('')
  }

  /** Notes what a sequence does; false if the terminal must not see it. */
  #inspect(sequence: string): boolean {
    if (REFUSED_REQUESTS.some((request) => request.test(sequence))) return false
    const [, numbers, setting] = /^\[\?([\d;]+)([hl])$/.exec(sequence) ?? []
    for (const mode of numbers?.split(';').map(Number) ?? [])
      if (PRIVATE_MODES.has(mode)) this.#modes.set(mode, setting === 'h')
    if (/^\[>\d*u$/.test(sequence)) this.#keyboardLevels++
    else if (/^\[<\d*u$/.test(sequence)) this.#keyboardLevels = Math.max(0, this.#keyboardLevels - 1)
    else if (sequence === '\x05' || REQUESTS.some((request) => request.test(sequence)))
      this.#hasRequests = true
    return true
  }
}

function findControl(bytes: Uint8Array, from: number): number {
  for (let position = from; position < bytes.length; position++) {
    const byte = bytes[position]
    if (byte === ESC || byte === ENQ) return position
    if (
      byte === C1 &&
      (position + 1 === bytes.length || C1_SEQUENCES[bytes[position + 1] ?? 0] !== undefined)
    )
      return position
  }
  return -1
}

/** Returns the end of the sequence at a position; undefined if it is incomplete. */
function findSequenceEnd(bytes: Uint8Array, position: number): number | undefined {
  if (bytes[position] === ENQ) return position + 1
  if (position + 1 >= bytes.length) return undefined
  const kind = readKind(bytes, position)
  if (STRING_SEQUENCES.includes(kind)) return findStringEnd(bytes, position + 2)
  if (kind !== '[') return position + 2
  for (let end = position + 2; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0
    if (byte === ESC) return end
    if (byte === CAN || byte === SUB || byte >= 0x40) return end + 1
  }
  return undefined
}

function findStringEnd(bytes: Uint8Array, from: number): number | undefined {
  for (let end = from; end < bytes.length; end++) {
    const byte = bytes[end]
    if (byte === BEL || byte === CAN || byte === SUB) return end + 1
    if (byte === C1 && bytes[end + 1] === 0x9c) return end + 2
    if (byte !== ESC) continue
    if (end + 1 === bytes.length) return undefined
    // Any other sequence ends the string without being part of it.
    return bytes[end + 1] === 0x5c ? end + 2 : end
  }
  return undefined
}

/** Returns a sequence without its escape character: `[?25l` for a hidden cursor. */
function readSequence(bytes: Uint8Array): string {
  if (bytes[0] === ENQ) return '\x05'
  return readKind(bytes, 0) + Buffer.from(bytes.subarray(2)).toString('latin1')
}

function readKind(bytes: Uint8Array, position: number): string {
  const byte = bytes[position + 1] ?? 0
  return bytes[position] === C1 ? (C1_SEQUENCES[byte] ?? '') : String.fromCharCode(byte)
}
