import { createHash } from 'node:crypto'
import type { FileSystem } from '../../vfs/index.ts'

/** A script that comes with a process, and what its file is called. */
export interface GivenScript {
  readonly name: string
  readonly text: string
}

const ENDING = /\.(?:ya?ml|ndjson|jsonl)$/
const USUAL_ENDING = '.yaml'

/** Keeps a script among those of the home, by what it says, so that the same one twice is one file; its name there. */
export async function keepScript(scripts: FileSystem, { name, text }: GivenScript): Promise<string> {
  const ending = ENDING.exec(name)?.[0] ?? USUAL_ENDING
  const stem = name.replace(ENDING, '').replaceAll(/[^\w-]+/g, '-')
  const plain = stem.replace(/^-+/, '') || 'script'
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  await scripts.write(`/${plain}-${hash}${ending}`, text)
  return `${plain}-${hash}`
}
