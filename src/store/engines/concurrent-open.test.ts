import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'

const PROCESSES = 6
const STORES = 20

/** Opens each store that a line of standard input names, and answers with a line: `opened`, or the error. */
const OPENER = `
  import { createInterface } from 'node:readline'
  const { SqliteEngine } = await import(${JSON.stringify(new URL('./sqlite/sqlite-engine.ts', import.meta.url).href)})
  console.log('ready')
  for await (const file of createInterface({ input: process.stdin })) {
    try {
      await new SqliteEngine({ file }).close()
      console.log('opened')
    } catch (error) {
      console.log(String(error))
    }
  }`

it('lets six processes open a new store at the same moment', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-concurrent-open-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const openers = Array.from({ length: PROCESSES }, startOpener)
  for (const { ready } of openers) expect(await ready).toBe('ready')
  const answers: string[] = []
  for (let store = 0; store < STORES; store++) {
    const file = join(scratch, `store-${store}`)
    answers.push(...(await Promise.all(openers.map(({ open }) => open(file)))))
  }
  expect(answers).toEqual(Array.from({ length: PROCESSES * STORES }, () => 'opened'))
})

function startOpener(): { ready: Promise<string>; open: (file: string) => Promise<string> } {
  const flags = ['--conditions=coppice-source', '--input-type=module', '-e', OPENER]
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, flags, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const readLine = async () => String((await lines.next()).value)
  return {
    ready: readLine(),
    open: (file) => {
      child.stdin.write(`${file}\n`)
      return readLine()
    },
  }
}
