// Bash and Python work on the same files; the files are forked in the middle, and both branches go on.
// Run: npx node examples/bash-and-python.ts
import assert from 'node:assert/strict'
import { diff, MemoryFs } from 'coppice'
import { createBash } from 'coppice/adapters/just-bash'
import { createPython } from 'coppice/adapters/pyodide'

const fs = new MemoryFs()
const bash = await createBash(fs)
const python = await createPython({ mounts: { '/work': fs } })

await bash.exec('mkdir log && printf "apples 3\\npears 5\\napples 4\\n" > log/picked.txt')

const { value } = await python.run(`
import collections, json
total = collections.Counter()
for line in open("log/picked.txt"):
    name, count = line.split()
    total[name] += int(count)
with open("total.json", "w") as f:
    json.dump(total, f)
dict(total)
`)
assert.deepEqual(value, { apples: 7, pears: 5 })

const { stdout } = await bash.exec('grep -r apples .')
console.log(stdout)

const branch = fs.fork()
await python.mount('/branch', branch)
await bash.exec('sed -i s/apples/quinces/ log/picked.txt')
await python.run('open("/branch/total.json", "w").write("{}")')

const changes = await Array.fromAsync(diff(fs, branch), ({ kind, path }) => `${kind} ${path}`)
assert.deepEqual(changes, ['modified /log/picked.txt', 'modified /total.json'])
await python.close()
