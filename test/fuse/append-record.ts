/** All of one length that pages are a multiple of: the kernel cuts none of them in two. */
const RECORD_BYTES = 64

/** One line. */
export function recordOf(writer: string, index: number): string {
  return `${`${writer}:${index}:`.padEnd(RECORD_BYTES - 1, writer)}\n`
}
