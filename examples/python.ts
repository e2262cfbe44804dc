// Python on any file system, as docs/guide/python.md explains it.
// Run: npx node examples/python.ts
import assert from 'node:assert/strict'
import { MemoryFs, OverlayFs, readText } from 'coppice'
import { createPython, mountInPyodide, PythonError } from 'coppice/adapters/pyodide'
import { loadPyodide } from 'pyodide'

const fs = new MemoryFs({ '/numbers.txt': '1\n2\n3\n' })
const python = await createPython({ mounts: { '/work': fs } })
const { value, stdout } = await python.run(`
total = sum(int(line) for line in open("numbers.txt"))
print("the sum is", total)
with open("sum.txt", "w") as f:
    f.write(str(total))
total
`)
assert.equal(value, 6)
assert.equal(stdout, 'the sum is 6\n')
assert.equal(await readText(fs, '/sum.txt'), '6')

const staged = new OverlayFs(fs)
await python.mount('/staged', staged)
await python.run(`
import sqlite3
db = sqlite3.connect("/staged/orchard.db")
db.execute("create table trees (kind text, age integer)")
db.execute("insert into trees values ('apple', 12)")
db.commit()
db.close()
`)
assert.ok(await staged.exists('/orchard.db'))
assert.ok(!(await fs.exists('/orchard.db')))

try {
  await python.run('while True: pass', { timeoutMs: 500 })
} catch (error) {
  console.log(String(error))
}
try {
  await python.run('open("missing.txt")')
} catch (error) {
  if (!(error instanceof PythonError)) throw error
  assert.equal(error.type, 'FileNotFoundError')
}
await python.close()

const pyodide = await loadPyodide()
using mount = mountInPyodide(pyodide, fs, '/work')
assert.equal(pyodide.runPython(`open("${mount.path}/sum.txt").read()`), '6')
