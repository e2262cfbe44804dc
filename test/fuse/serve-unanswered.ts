import { mountFileSystem } from '../../src/fuse/index.ts'
import { MemoryFs, type PathChange } from '../../src/vfs/index.ts'

/** Removes nothing and never says so. */
class UnansweredFs extends MemoryFs {
  readonly asked: Promise<void>
  readonly #tell: () => void

  constructor() {
    super()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.asked = promise
    this.#tell = resolve
  }

  protected override doRemove(): Promise<void> {
    this.#tell()
    return new Promise(() => {})
  }
}

/** Serves a file system whose root changes while a program waits for an answer about it, so that a notification to the kernel waits too. */
const [directory, device] = process.argv.slice(2)
if (directory === undefined) throw new Error('usage: serve-unanswered <directory> [descriptor of its device]')
const fs = new UnansweredFs()
await fs.write('/file', 'x')
async function* changes(): AsyncGenerator<PathChange> {
  await fs.asked
  yield { kind: 'added', path: '/another' }
}
const mount = await mountFileSystem(fs, {
  directory,
  watch: changes,
  ...(device !== undefined && { device: Number(device) }),
})
process.stdout.write('mounted\n')
await mount.ended
