/**
 * A program that writes files into a directory with the least that can be undone after a kill, and no store: it reads
 * what is replaced, keeps a second name of it, writes each new file beside its place, puts it there in one step, and
 * removes the second names at the end. Arguments: the new files, and the directory.
 */
import {
  closeSync,
  fchmodSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const [from = '', to = ''] = process.argv.slice(2)
const stage = join(to, '.stage')
for (const name of ['old', 'new']) mkdirSync(join(stage, name), { recursive: true })
let index = 0
for (const directory of readdirSync(from)) {
  for (const name of readdirSync(join(from, directory))) {
    const [source, target] = [join(from, directory, name), join(to, directory, name)]
    const before = statSync(target, { throwIfNoEntry: false })
    if (before !== undefined) {
      readFileSync(target)
      linkSync(target, join(stage, 'old', String(index)))
    }
    const { mode, mtime } = statSync(source)
    const fd = openSync(join(stage, 'new', String(index)), 'wx', 0o600)
    writeSync(fd, readFileSync(source))
    fchmodSync(fd, mode & 0o777)
    futimesSync(fd, mtime, mtime)
    closeSync(fd)
    // A link fails if something new is there; a rename would replace it.
    if (before === undefined) linkSync(join(stage, 'new', String(index)), target)
    else renameSync(join(stage, 'new', String(index)), target)
    index++
  }
}
rmSync(stage, { recursive: true })
