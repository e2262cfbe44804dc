import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

/** Runs a program where what is mounted is seen by nobody else. */
function apart(...words: string[]): { stdout: string; stderr: string; status: number | null } {
  const args = ['-c', 'exec unshare --mount --propagation private "$0" "$@"', ...words]
  return spawnSync('sh', args, { env: { ...process.env, NODE_OPTIONS: '' }, encoding: 'utf8' })
}

const canMount = apart('mount', '-t', 'tmpfs', 't', tmpdir()).status === 0

/** Runs the lines that take hold of what is mounted below a directory, after something of it was unmounted. */
const PROGRAM = `
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { MountsBelow } from ${JSON.stringify(new URL('./mounts-below.ts', import.meta.url).href)}
const [directory, session] = process.argv.slice(1)
for (const path of ['/disk', '/disk/stays', '/disk/goes']) {
  mkdirSync(directory + path)
  execFileSync('mount', ['-t', 'tmpfs', 't', directory + path])
  writeFileSync(directory + path + '/name', path)
}
const below = MountsBelow.find(directory)
execFileSync('umount', [directory + '/disk/goes'])
const tries = ['', '/stays', '/goes'].map((path) => 'if touch below/0' + path + '/new 2>&-; then exit 1; fi')
const lines = ['set -e', ...below.createBindLines(), ...tries, 'cat below/0/name below/0/stays/name']
execFileSync('sh', ['-c', lines.join('\\n')], { cwd: session, stdio: 'inherit' })`

it.runIf(canMount)(
  'what is unmounted while a session goes on does not end it, and the rest is read-only',
  () => {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'mounts-below-')))
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
    const places = [join(scratch, 'project'), join(scratch, 'session')]
    for (const place of places) mkdirSync(place)
    const node = [process.execPath, '--input-type=module', '--eval', PROGRAM]
    const { stdout, stderr } = apart(...node, ...places)
    expect({ stdout, stderr }).toEqual({ stdout: '/disk/disk/stays', stderr: '' })
  },
)
