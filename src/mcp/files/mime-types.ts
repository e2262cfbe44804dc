/** MIME types by extension, for those that models and clients treat differently. */
const byExtension: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  rs: 'text/x-rust',
  sh: 'application/x-sh',
  svg: 'image/svg+xml',
  toml: 'application/toml',
  ts: 'text/x-typescript',
  tsx: 'text/x-typescript',
  txt: 'text/plain',
  wasm: 'application/wasm',
  wav: 'audio/wav',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

export const DIRECTORY_TYPE = 'inode/directory'

/** Returns the MIME type for a name; undefined if it is unknown. */
export function findMimeType(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  if (dot <= 0) return undefined
  const extension = name.slice(dot + 1).toLowerCase()
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined
}
