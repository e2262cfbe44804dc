import { spawnSync } from 'node:child_process'

const IMPORTS = `import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
const cwd = process.cwd()
`

/** Runs the check of a task in a directory. Returns undefined if it passes, else the end of its output. */
export function runCheck(check: string, directory: string): string | undefined {
  const args = ['--input-type=module', '--eval', IMPORTS + check]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' })
  return status === 0 ? undefined : stderr.slice(-2000)
}
