/** A process of its own that applies a fork of a directory and is killed on the way: after one new name, or when all is written. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { openHome } from '../../src/backends/vault/index.ts'
import { LinkedDirectory } from '../../src/workspace/index.ts'

const [, , path = '', directory = '', when = ''] = process.argv
const kill = () => void process.kill(process.pid, 'SIGKILL')
const home = await openHome({ path })
const link = new LinkedDirectory(home, directory)
const fork = await link.getFork()
if (when === 'writing') {
  const { linkSync } = fs
  let links = 0
  fs.linkSync = (...paths) => {
    linkSync(...paths)
    // The first is the second name of the file that is replaced, the next one the new file.
    if (++links === 2) kill()
  }
} else fs.rmdirSync = kill
syncBuiltinESMExports()
await link.apply(fork)
