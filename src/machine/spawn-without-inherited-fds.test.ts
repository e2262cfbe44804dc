import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { spawnWithoutInheritedFds } from './index.ts'

const [FIRST, SECOND] = [40, 57]

/** A program that has two descriptors too many, and starts another that tells what it has. */
const PROGRAM = `import { spawnWithoutInheritedFds } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
  spawnWithoutInheritedFds('ls', ['-l', '/proc/self/fd'], { stdio: ['ignore', 1, 'ignore', 'pipe'] })`

describe.runIf(process.platform === 'linux')('a program that is started bare', () => {
  it('has the descriptors it is given, and none that were left open to who starts it', async () => {
    const left = openSync(import.meta.dirname, 'r')
    const stdio = Array.from({ length: SECOND + 1 }, (_, at) =>
      at === FIRST || at === SECOND ? left : ('ignore' as const),
    )
    const child = spawnWithoutInheritedFds(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['ignore', 'pipe', ...stdio.slice(2)],
    })
    closeSync(left)
    const [listed] = await Promise.all([
      child.stdout === null ? '' : text(child.stdout),
      once(child, 'close'),
    ])
    expect(listed).toMatch(/ 3 -> socket:/)
    expect(listed).toContain(` ${FIRST} -> /dev/null`)
    expect(listed).toContain(` ${SECOND} -> /dev/null`)
    expect(listed).not.toContain(`-> ${import.meta.dirname}`)
  })
})
