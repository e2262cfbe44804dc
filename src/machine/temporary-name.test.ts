import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryName, isTemporaryName, removeAbandonedFiles } from './index.ts'

/** A name that a process made which is over. */
function nameOfTheDead(): string {
  const module = JSON.stringify(new URL('./index.ts', import.meta.url).href)
  const program = `import { createTemporaryName } from ${module}
    console.log(createTemporaryName())
    process.kill(process.pid, 'SIGKILL')`
  const args = ['--input-type=module', '--eval', program]
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim()
}

function directoryOf(...names: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'temporary-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const name of names) writeFileSync(join(directory, name), '')
  return directory
}

const UNMARKED = `.coppice-${'0'.repeat(24)}.tmp`
const EARLIER = `.coppice-1.1.${'0'.repeat(16)}.${'0'.repeat(16)}.tmp`
const ELSEWHERE = `.coppice-${'0'.repeat(20)}-1-1-${'0'.repeat(10)}.tmp`

describe('a temporary name', () => {
  it('is recognised for any process that created it, and no other name is', () => {
    const [one, other] = [createTemporaryName(), createTemporaryName()]
    expect(one).not.toBe(other)
    expect([one, other, UNMARKED, EARLIER, ELSEWHERE].every(isTemporaryName)).toBe(true)
    const plain = ['f.tmp', '.coppice-', '.coppice-.tmp', '.coppice-1.tmp', `${one}.x`, `x${one}`]
    expect(plain.filter(isTemporaryName)).toEqual([])
  })
})

describe('the sweep of a directory', () => {
  it('removes what a process left that was killed, and nothing a living one may be writing', () => {
    const dead = nameOfTheDead()
    expect(isTemporaryName(dead)).toBe(true)
    const own = createTemporaryName()
    const kept = [own, UNMARKED, EARLIER, ELSEWHERE, 'f.tmp', `${dead}.kept`]
    const directory = directoryOf(dead, ...kept)
    removeAbandonedFiles(directory)
    expect(readdirSync(directory).sort()).toEqual(kept.sort())
  })

  it('removes files of an unknown process after a day', () => {
    const own = createTemporaryName()
    const directory = directoryOf(own, UNMARKED, EARLIER, ELSEWHERE, 'f')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60 * 1000 })
    onTestFinished(() => void vi.useRealTimers())
    removeAbandonedFiles(directory)
    expect(readdirSync(directory).sort()).toEqual([own, 'f'].sort())
  })

  it('leaves a directory that cannot be listed', () => {
    expect(() => removeAbandonedFiles(join(directoryOf(), 'missing'))).not.toThrow()
  })
})
