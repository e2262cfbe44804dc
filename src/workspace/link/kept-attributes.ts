import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const PRIVATE_DIRECTORY = 0o700
/** How many files one `cp` is given. */
const FILES_AT_ONCE = 200
const COPY = ['--attributes-only', '--preserve=mode,xattr', '--'] as const

/**
 * Gives files in `new` of a stage, by their index, the extended attributes and access lists of the files of a directory
 * that they are to replace: as far as the system and this user can. Node knows neither, so `cp` does it.
 */
export function keepAttributes(
  directory: string,
  stage: string,
  files: readonly { readonly index: number; readonly path: string }[],
): void {
  if (files.length === 0 || process.platform !== 'linux') return
  const held = join(stage, 'attributes')
  mkdirSync(held, PRIVATE_DIRECTORY)
  // A second name says which file it is for, and follows no link that somebody puts in the place.
  const sources = files.flatMap(({ index, path }) => named(directory + path, join(held, String(index))))
  for (let start = 0; start < sources.length; start += FILES_AT_ONCE) {
    const some = sources.slice(start, start + FILES_AT_ONCE)
    spawnSync('cp', [...COPY, ...some, join(stage, 'new')], {
      env: { PATH: '/usr/bin:/bin' },
      stdio: 'ignore',
    })
  }
  rmSync(held, { recursive: true })
}

function named(path: string, name: string): string[] {
  try {
    linkSync(path, name)
    return [name]
  } catch {
    // No disk for it, or the file of another: it gets none, and whatever else is wrong comes up when it is replaced.
    return []
  }
}
