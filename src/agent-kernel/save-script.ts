import { createHash } from 'node:crypto'
import type { FileSystem } from '../vfs/index.ts'

/** A script that comes with a process, and what its file is called. */
export interface ScriptSource {
  readonly name: string
  readonly text: string
}

const SCRIPT_EXTENSION = /\.(?:ya?ml|ndjson|jsonl)$/
const DEFAULT_EXTENSION = '.yaml'

/** Keeps a script among those of the home, by what it says, so that the same one twice is one file; its name there. */
export async function saveScript(scripts: FileSystem, { name, text }: ScriptSource): Promise<string> {
  const ending = SCRIPT_EXTENSION.exec(name)?.[0] ?? DEFAULT_EXTENSION
  const stem = name.replace(SCRIPT_EXTENSION, '').replaceAll(/[^\w-]+/g, '-')
  const plain = stem.replace(/^-+/, '') || 'script'
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  await scripts.write(`/${plain}-${hash}${ending}`, text)
  return `${plain}-${hash}`
}
