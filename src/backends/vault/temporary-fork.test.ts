import { describe, expect, it } from 'vitest'
import { MemoryEngine } from '../../store/index.ts'
import { readText } from '../../vfs/index.ts'
import { openHome } from './index.ts'

/** An engine that counts the commits that wait for the disk. */
class CountingEngine extends MemoryEngine {
  durableCommits = 0

  override commit(batch: Parameters<MemoryEngine['commit']>[0]): boolean {
    if (batch.durable === true) this.durableCommits++
    return super.commit(batch)
  }
}

describe('a temporary fork', () => {
  it('has the files of its source, and does not wait for the disk', async () => {
    const engine = new CountingEngine()
    const home = await openHome({ engine })
    const base = await home.createVault('base')
    await base.write('/a', 'one')
    const before = engine.durableCommits
    const fork = await home.fork('base', 'moment', { isTemporary: true })
    expect(engine.durableCommits).toBe(before)
    await base.write('/a', 'two')
    expect(await readText(fork, '/a')).toBe('one')
    await home.fork('base', 'task')
    expect(engine.durableCommits).toBe(before + 1)
    await home.close()
  })
})
