import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { loadPyodide } from 'pyodide'
import { createPython, mountInPyodide } from '../../../src/adapters/pyodide/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { MemoryFs } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const FILES = 1000
const BYTES = 2000
const PASSES = 12

const PROGRAM = `
import os, time

def make(root):
    os.makedirs(root + "/src/lib", exist_ok=True)
    for i in range(${FILES}):
        with open(f"{root}/src/lib/f{i}.txt", "w") as f:
            f.write("x" * ${BYTES})

def read(root):
    started, found = time.perf_counter(), 0
    for i in range(${FILES}):
        with open(f"{root}/src/lib/f{i}.txt") as f:
            found += len(f.read())
    if found != ${FILES * BYTES}:
        raise ValueError(f"read {found} characters")
    return time.perf_counter() - started
`

/** The roots alternate: the first would warm the interpreter up for the others. */
export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  await using home = await openHome({ path: await mkdtemp(join(directory, 'python-')) })
  const pyodide = await loadPyodide()
  mountInPyodide(pyodide, new MemoryFs(), '/memory')
  mountInPyodide(pyodide, await home.createVault('files'), '/vault')
  const roots = { 'python-theirs': '/memfs', 'python-memory': '/memory', 'python-vault': '/vault' }
  pyodide.runPython(PROGRAM)
  for (const root of Object.values(roots)) pyodide.runPython(`make("${root}")`)
  const fastest = new Map<string, number>()
  for (let pass = 0; pass <= PASSES; pass++) {
    recorder.progress(`pass ${pass} of ${PASSES}`)
    for (const [work, root] of Object.entries(roots)) {
      const seconds = Number(pyodide.runPython(`read("${root}")`))
      if (pass > 0) fastest.set(work, Math.min(seconds, fastest.get(work) ?? seconds))
    }
  }
  for (const [work, seconds] of fastest) recorder.note(work, seconds / FILES)
  recorder.note('python-thread', (await measureInThread()) / FILES)
}

async function measureInThread(): Promise<number> {
  await using python = await createPython({ mounts: { '/work': new MemoryFs() } })
  const { value } = await python.run(`${PROGRAM}\nmake("/work")\nmin(read("/work") for _ in range(3))`)
  return Number(value)
}
