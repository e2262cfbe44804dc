import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Runs a program on the build with Node, Bun and Deno. The latter two come from npm, into a directory of their own: they
// are too large for everybody who works on the package.
const VERSIONS = ['bun@1.4.4', 'deno@2.9.5']
const program = fileURLToPath(new URL('runtime-program.js', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'coppice-runtimes-'))

try {
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...VERSIONS], {
    cwd: directory,
    stdio: 'inherit',
  })
  const bin = join(directory, 'node_modules/.bin')
  const commands = [
    [process.execPath, program],
    [join(bin, 'bun'), program],
    [join(bin, 'deno'), 'run', '--allow-all', program],
  ]
  for (const [command, ...args] of commands) {
    console.log(`\n${command}`)
    if (spawnSync(command, args, { stdio: 'inherit' }).status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
