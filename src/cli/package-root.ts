import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory of this package. The CLI is bundled flat, so only a file in this folder can find it. */
export const packageRoot: string = fileURLToPath(new URL('../..', import.meta.url))

declare const COPPICE_BUILD: string | undefined

/** Hash of the files that this program was built from; the bundler replaces the name. Undefined in the sources. */
export const currentBuild: string | undefined =
  typeof COPPICE_BUILD === 'undefined' ? undefined : COPPICE_BUILD

/** Returns the version of this package. */
export function readVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  return manifest.version
}
