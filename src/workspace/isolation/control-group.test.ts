import { describe, expect, it } from 'vitest'
import { createGroupArgs, findGroupArgs, probeControlGroup } from './control-group.ts'
import { defaultLimits } from './isolation-plan.ts'
import { runProbe } from './probe.ts'

const why = await probeControlGroup()

describe('the control group of a command', () => {
  it('limits memory and processes together, and only as requested', () => {
    const words = createGroupArgs({ memoryBytes: 1000, processes: 9 })
    expect(words).toEqual(expect.arrayContaining(['systemd-run', '--scope', '--property=MemoryMax=1000']))
    expect(words).toContain('--property=TasksMax=9')
    expect(words.at(-1)).toBe('--')
    expect(createGroupArgs({}).filter((word) => word.startsWith('--property'))).toEqual([])
  })

  it('is created only for a memory limit, where the host supports it', async () => {
    expect(await findGroupArgs(defaultLimits)).toEqual([])
    const limited = { ...defaultLimits, memoryBytes: 2 ** 30 }
    expect(await findGroupArgs(limited)).toEqual(why.works ? createGroupArgs(limited) : [])
  })

  it.skipIf(!why.works)('kills a command whose processes exceed the memory limit together', async () => {
    const each = 'head -c 40000000 /dev/zero | tail -c 40000000 | wc -c > /dev/null'
    const script = `{ ${each}; } & { ${each}; } & wait %1 && wait %2`
    const trial = (memoryBytes: number) => runProbe([...createGroupArgs({ memoryBytes }), 'sh', '-c', script])
    expect((await trial(500e6)).works).toBe(true)
    expect((await trial(60e6)).works).toBe(false)
  })
})
