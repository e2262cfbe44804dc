import { basename } from '../../vfs/index.ts'

const PPTX_TYPE = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'

/** MIME types of deepagents by extension. Anything else is plain text. */
const mimeTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  heic: 'image/heic',
  heif: 'image/heif',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  aiff: 'audio/aiff',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  mov: 'video/quicktime',
  avi: 'video/x-msvideo',
  flv: 'video/x-flv',
  wmv: 'video/x-ms-wmv',
  '3gpp': 'video/3gpp',
  pdf: 'application/pdf',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: PPTX_TYPE,
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  xml: 'text/xml',
  json: 'application/json',
  js: 'application/javascript',
  mjs: 'application/javascript',
  cjs: 'application/javascript',
}

const textTypes: ReadonlySet<string> = new Set([
  'application/json',
  'application/javascript',
  'image/svg+xml',
])

/** Returns the MIME type that deepagents derives from a file's name. */
export function getMimeType(path: string): string {
  const name = basename(path)
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
  return (Object.hasOwn(mimeTypes, extension) ? mimeTypes[extension] : undefined) ?? 'text/plain'
}

/** True if deepagents handles a file as text; others are passed whole, in base64 when written. */
export function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || textTypes.has(mimeType)
}
