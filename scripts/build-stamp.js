import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './bundle-options.js'

/** All that a build reads. */
const INPUTS = ['src/**', 'scripts/**', 'bin/**', 'package.json', 'package-lock.json', 'tsconfig*.json']
/** Outside of `dist`, which is published. */
const STAMP = join(root, 'node_modules/.cache/coppice-build')

/** True if `dist` was built from the files as they are now. */
export function isBuildCurrent() {
  const isThere = existsSync(STAMP) && existsSync(join(root, 'dist/cli/main.js'))
  return isThere && readFileSync(STAMP, 'utf8') === hashInputs()
}

/** Forgets the last build, before another begins. */
export function removeStamp() {
  rmSync(STAMP, { force: true })
}

/** Remembers from which files `dist` was built. */
export function writeStamp() {
  mkdirSync(dirname(STAMP), { recursive: true })
  writeFileSync(STAMP, hashInputs())
}

/** Returns the hash of all that a build reads. */
export function hashInputs() {
  const hash = createHash('sha256')
  for (const path of globSync(INPUTS, { cwd: root }).sort()) {
    const file = join(root, path)
    if (statSync(file).isFile()) hash.update(`${path}\0`).update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}
