const ALPHABET = Buffer.from(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
)
/** Bytes that a line of a binary patch has at most, and all lines but the last have. */
const LINE_BYTES = 52
const LETTERS = 26
const [UPPER_A, LOWER_A, NEWLINE] = [0x41, 0x61, 0x0a]

/**
 * Encodes bytes as the lines of git's binary patches: a letter for the number of bytes, then five characters for each
 * four of them. Yields several lines at once, each with its newline.
 */
export async function* encodeBase85Lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    const end = bytes.length - (bytes.length % LINE_BYTES)
    if (end > 0) yield encodeLines(bytes.subarray(0, end))
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield encodeLines(rest)
}

function encodeLines(bytes: Buffer): string {
  const lines = Math.ceil(bytes.length / LINE_BYTES)
  const encoded = Buffer.alloc(2 * lines + 5 * Math.ceil(bytes.length / 4))
  let next = 0
  for (let start = 0; start < bytes.length; start += LINE_BYTES) {
    const line = bytes.subarray(start, start + LINE_BYTES)
    encoded[next++] = line.length <= LETTERS ? UPPER_A + line.length - 1 : LOWER_A + line.length - LETTERS - 1
    for (let at = 0; at < line.length; at += 4, next += 5) encodeWord(readWord(line, at), encoded, next)
    encoded[next++] = NEWLINE
  }
  return encoded.toString('latin1', 0, next)
}

/** Returns four bytes as a number; those after the end are zero. */
function readWord(bytes: Buffer, at: number): number {
  if (at + 4 <= bytes.length) return bytes.readUInt32BE(at)
  const padded = Buffer.alloc(4)
  bytes.copy(padded, 0, at)
  return padded.readUInt32BE(0)
}

function encodeWord(word: number, target: Buffer, at: number): void {
  let left = word
  for (let digit = 4; digit >= 0; digit--) {
    target[at + digit] = ALPHABET[left % ALPHABET.length] ?? 0
    left = Math.floor(left / ALPHABET.length)
  }
}
