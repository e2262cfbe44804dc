// A shell in TypeScript on the files of a vault, as docs/guide/bash.md explains it.
// Run: npx node examples/bash.ts
import assert from 'node:assert/strict'
import { MemoryFs, MountTable, openHome, readText } from 'coppice'
import { bashFileSystem, createBash } from 'coppice/adapters/just-bash'
import { Bash } from 'just-bash'

const home = await openHome()
const vault = await home.createVault('notes')
const bash = await createBash(vault)

await bash.exec('mkdir -p todo && echo "water the trees" > todo/monday.txt')
const found = await bash.exec('grep -rl trees . | sort')
assert.equal(found.stdout, 'todo/monday.txt\n')
assert.equal(await readText(vault, '/todo/monday.txt'), 'water the trees\n')

const task = await home.fork('notes', 'task-1')
const { exitCode } = await (await createBash(task)).exec('sed -i s/water/prune/ todo/*.txt; rm -rf nothing')
assert.equal(exitCode, 0)
const changes = await Array.fromAsync(task.diff(), ({ kind, path }) => `${kind} ${path}`)
assert.deepEqual(changes, ['modified /todo/monday.txt'])
assert.equal((await bash.exec('cat todo/monday.txt')).stdout, 'water the trees\n')

const table = new MountTable({ '/': new MemoryFs(), '/vault': vault })
const plain = new Bash({ fs: bashFileSystem(table), cwd: '/vault' })
const copied = await plain.exec('cp -r todo /backup && find /backup -type f')
assert.equal(copied.stdout, '/backup/monday.txt\n')

const anna = await createBash(vault, { ctx: { caller: { kind: 'context', context: 'anna' } } })
await anna.exec('echo "buy seeds" > todo/tuesday.txt')
const [line] = await vault.blame('/todo/tuesday.txt')
assert.deepEqual(line?.caller, { kind: 'context', context: 'anna' })

console.log(found.stdout, changes.join('\n'))
await home.close()
