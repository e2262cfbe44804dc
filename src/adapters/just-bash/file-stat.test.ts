import { expect, it } from 'vitest'
import { Backend, type Capability, type DirEntry, type Stat } from '../../vfs/index.ts'
import { bashFileSystem } from './index.ts'

/** One thing, which is what it is said to be. */
class One extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read'])
  readonly #stat: Stat

  constructor(stat: Pick<Stat, 'type' | 'mode'>) {
    super()
    this.#stat = { size: 0, mtime: new Date(0), ...stat }
  }

  protected doStat(): Promise<Stat> {
    return Promise.resolve(this.#stat)
  }

  protected async *doReaddir(): AsyncGenerator<DirEntry> {}

  protected async *doRead(): AsyncGenerator<Uint8Array> {}
}

async function modeOf(stat: Pick<Stat, 'type' | 'mode'>): Promise<number> {
  return (await bashFileSystem(new One(stat)).lstat('/one')).mode
}

it('shows a shell the same permissions as others', async () => {
  expect(await modeOf({ type: 'other', mode: null })).toBe(0o644)
  expect(await modeOf({ type: 'directory', mode: null })).toBe(0o755)
  expect(await modeOf({ type: 'file', mode: 0o100_600 })).toBe(0o600)
  expect(await modeOf({ type: 'directory', mode: 0o1777 })).toBe(0o1777)
})
