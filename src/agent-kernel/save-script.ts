import { createHash } from 'node:crypto'
import type { FileSystem } from '../vfs/index.ts'

/** A script passed with a process, and its file name. */
export interface ScriptSource {
  readonly name: string
  readonly text: string
}

const SCRIPT_EXTENSION = /\.(?:ya?ml|ndjson|jsonl)$/
const DEFAULT_EXTENSION = '.yaml'

/** Stores a script under the hash of its text, so that duplicates share one file; returns its name. */
export async function saveScript(scripts: FileSystem, { name, text }: ScriptSource): Promise<string> {
  const ending = SCRIPT_EXTENSION.exec(name)?.[0] ?? DEFAULT_EXTENSION
  const stem = name.replace(SCRIPT_EXTENSION, '').replaceAll(/[^\w-]+/g, '-')
  const plain = stem.replace(/^-+/, '') || 'script'
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  await scripts.write(`/${plain}-${hash}${ending}`, text)
  return `${plain}-${hash}`
}
