/** Tags of the ASN.1 types that a certificate needs. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const
const CONTEXT_TAG = 0x80
const CONSTRUCTED = 0x20
const SHORT_LENGTH = 0x80

/** Encodes values by the distinguished encoding rules of ASN.1 (X.690), as far as certificates need them. */
export const der = {
  boolean: (value: boolean): Buffer => encode(TAG.boolean, Buffer.from([value ? 0xff : 0])),
  /** Encodes an integer that is not negative, from its bytes. */
  integer: (bytes: Uint8Array): Buffer => {
    // The highest bit is the sign: a zero byte in front keeps the number positive.
    const looksNegative = ((bytes[0] ?? 0) & 0x80) !== 0
    return encode(TAG.integer, Buffer.concat([Buffer.alloc(looksNegative ? 1 : 0), bytes]))
  },
  bitString: (bytes: Uint8Array, unusedBits = 0): Buffer =>
    encode(TAG.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes])),
  octetString: (bytes: Uint8Array): Buffer => encode(TAG.octetString, bytes),
  oid: (dotted: string): Buffer => encode(TAG.oid, encodeOid(dotted)),
  text: (text: string): Buffer => encode(TAG.utf8String, Buffer.from(text)),
  /** Encodes a time before 2050, as `YYMMDDHHMMSSZ`: until then, certificates have two digits of the year. */
  time: (time: Date): Buffer =>
    encode(
      TAG.utcTime,
      Buffer.from(
        time
          .toISOString()
          .slice(2)
          .replaceAll(/[-:T]|\.\d+/g, ''),
      ),
    ),
  sequence: (...parts: readonly Uint8Array[]): Buffer => encode(TAG.sequence, Buffer.concat(parts)),
  set: (...parts: readonly Uint8Array[]): Buffer => encode(TAG.set, Buffer.concat(parts)),
  /** Encodes a numbered field that contains values with their own tags. */
  explicit: (number: number, ...parts: readonly Uint8Array[]): Buffer =>
    encode(CONTEXT_TAG | CONSTRUCTED | number, Buffer.concat(parts)),
  /** Encodes the content of a value with the number of its field in place of its tag. */
  implicit: (number: number, bytes: Uint8Array): Buffer => encode(CONTEXT_TAG | number, bytes),
} as const

function encode(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content])
}

function encodeLength(length: number): Buffer {
  if (length < SHORT_LENGTH) return Buffer.from([length])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([SHORT_LENGTH | bytes.length]), bytes])
}

function encodeOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return Buffer.from([first * 40 + second, ...rest.flatMap(encodeBase128)])
}

/** Encodes a number in groups of seven bits: all bytes but the last have the highest bit set. */
function encodeBase128(number: number): number[] {
  const bytes = [number & 0x7f]
  for (let rest = number >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
