// A repository at a commit as a file system, its history as checkpoints of a vault, and checkpoints as commits.
// Run: npx node examples/git.ts
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diff, grep, MountTable, OverlayFs, openHome, readText } from 'coppice'
import { exportGit, importGit, openGit } from 'coppice/backends/git'

const scratch = await mkdtemp(join(tmpdir(), 'coppice-example-'))
const repository = join(scratch, 'shop')
const git = (...args: string[]) => {
  const by = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  return execFileSync('git', ['-C', repository, ...by, ...args], { encoding: 'utf8' }).trim()
}
execFileSync('git', ['init', '-q', '--initial-branch=main', repository])
for (const [port, message] of [
  ['8080', 'A first port'],
  ['9090', 'Another port'],
]) {
  await writeFile(join(repository, 'config.json'), `{ "port": ${port} }\n`)
  git('add', '.')
  git('commit', '-q', '-m', message ?? '')
}

// Two commits, mounted side by side. Nothing is checked out.
await using before = await openGit(repository, { ref: git('rev-parse', 'HEAD~1') })
await using now = await openGit(repository, { ref: 'main' })
const fs = new MountTable({ '/before': before, '/now': now })
const ports = await Array.fromAsync(
  grep(fs, '/', { pattern: 'port' }),
  ({ path, text }) => `${path}: ${text}`,
)
assert.deepEqual(ports, ['/before/config.json: { "port": 8080 }', '/now/config.json: { "port": 9090 }'])

// What changed, without reading what did not.
const changes = await Array.fromAsync(diff(before, now), ({ kind, path }) => `${kind} ${path}`)
assert.deepEqual(changes, ['modified /config.json'])

// Changes on top of a commit stay in memory.
const staged = new OverlayFs(now)
await staged.write('/config.json', '{ "port": 1 }\n')
assert.equal(await readText(now, '/config.json'), '{ "port": 9090 }\n')

// The history as checkpoints, work on top of it, and everything back as commits.
await using home = await openHome()
const vault = await home.createVault('shop')
await importGit(home, 'shop', repository)
await vault.write('/config.json', '{ "port": 443 }\n')
await vault.checkpoint('secure', { description: 'Serve over TLS' })
const { commit } = await exportGit(home, 'shop', repository, { branch: 'agent' })
assert.equal(git('log', '--format=%s', commit), 'Serve over TLS\nAnother port\nA first port')
assert.equal(git('rev-parse', 'agent~1'), git('rev-parse', 'main'))

console.log(git('log', '--oneline', 'agent'))
await rm(scratch, { recursive: true })
