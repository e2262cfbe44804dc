/** Length of the start of a file that shows its format. */
export const IMAGE_PROBE_BYTES = 12

/**
 * Returns the MIME type of an image that browsers and models show, by the first bytes of a file; undefined for any other
 * file.
 */
export function detectImageType(start: Uint8Array): string | undefined {
  const signature = String.fromCharCode(...start.subarray(0, IMAGE_PROBE_BYTES))
  if (signature.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (signature.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(signature)) return 'image/gif'
  return /^RIFF.{4}WEBP/s.test(signature) ? 'image/webp' : undefined
}
