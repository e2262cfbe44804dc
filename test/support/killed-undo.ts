/** A process of its own that undoes the last prompt in a directory and is killed before the n-th new or removed name. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { openHome } from '../../src/backends/vault/index.ts'
import { Timeline } from '../../src/timeline/index.ts'

const [, , path = '', directory = '', count = ''] = process.argv
const home = await openHome({ path })
let left = Number(count)
for (const name of ['renameSync', 'linkSync', 'unlinkSync'] as const) {
  const change = fs[name]
  Object.assign(fs, {
    [name]: (...words: unknown[]) => {
      if (--left <= 0) process.kill(process.pid, 'SIGKILL')
      return Reflect.apply(change, fs, words)
    },
  })
}
syncBuiltinESMExports()
await new Timeline({ path, open: async () => home }, directory).undo({ selection: { last: 1 } })
