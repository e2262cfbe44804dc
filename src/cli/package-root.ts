import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of this package. The CLI is bundled flat, so only a file in this folder can find it. */
export const packageRoot: string = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the version of this package. */
export function readVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  return manifest.version
}
