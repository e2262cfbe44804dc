import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createProcessTag,
  findStoppedProcess,
  hasExited,
  isStaleTag,
  type ProcessIdentity,
  parseProcessTag,
} from './index.ts'

const isLinux = process.platform === 'linux'

/** A program that prints its tag, and is killed. */
const PROGRAM = `import { createProcessTag } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
  process.stdout.write(createProcessTag(), () => process.kill(process.pid, 'SIGKILL'))`
const ARGS = ['--input-type=module', '--eval', PROGRAM]

function parseOwner(tag: string): ProcessIdentity {
  const found = parseProcessTag(tag)
  if (found === undefined) throw new Error(`${tag} is no tag`)
  return found
}

describe('a process tag', () => {
  it('identifies its process, and is unique', () => {
    const [one, other] = [createProcessTag(), createProcessTag()]
    expect(one).not.toBe(other)
    expect(parseOwner(one)).toEqual(parseOwner(other))
    expect(parseOwner(one).pid).toBe(process.pid)
  })

  it('fits into the name of a vault, however large the numbers of a machine are', () => {
    expect(createProcessTag()).toMatch(/^[0-9a-z-]+$/)
    const [where = '', , , nonce = ''] = createProcessTag().split('-')
    const longest = [where, 4_194_304, 99_999_999_999, nonce].join('-')
    expect(parseProcessTag(longest)).toBeDefined()
    expect(`session-${longest}-base`.length).toBeLessThanOrEqual(64)
  })

  it('is nothing that only looks like one, nor one of earlier versions', () => {
    const nonces = ['aabbccddeeff', '0'.repeat(16)]
    const earlier = [`4026531836-424242-777-${nonces[0]}`, `1.1.${nonces[1]}.${nonces[1]}`]
    const like = [
      '',
      'x',
      `${createProcessTag()}0`,
      `x${createProcessTag()}`,
      createProcessTag().toUpperCase(),
      `${createProcessTag()}\n`,
    ]
    for (const name of [...earlier, ...like]) {
      expect([name, parseProcessTag(name), isStaleTag(name)]).toEqual([name, undefined, false])
    }
  })
})

describe('the process of a tag', () => {
  const own = parseOwner(createProcessTag())

  it.runIf(isLinux)('is not over while it lives', () => {
    expect(hasExited(own)).toBe(false)
    expect(isStaleTag(createProcessTag())).toBe(false)
  })

  it.runIf(isLinux)('is found while it is stopped', async () => {
    const program = PROGRAM.replace('SIGKILL', 'SIGSTOP')
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
    onTestFinished(() => void child.kill('SIGKILL'))
    const [tag] = await once(child.stdout, 'data')
    await expect.poll(() => findStoppedProcess(String(tag))).toBe(child.pid)
    child.kill('SIGCONT')
    await once(child, 'exit')
    expect(findStoppedProcess(String(tag))).toBeUndefined()
    expect(findStoppedProcess(createProcessTag())).toBeUndefined()
  })

  it('of another machine is unknown, whatever else is the same here or not', () => {
    const elsewhere = { ...own, machine: '00000000' }
    expect(hasExited(elsewhere)).toBeUndefined()
    expect(hasExited({ ...elsewhere, boot: '000000', start: '1' })).toBeUndefined()
    expect(isStaleTag(createProcessTag().replace(/^.{8}/, '00000000'))).toBe(false)
  })

  it('of this machine is over once that was started again', () => {
    expect(hasExited({ ...own, boot: '000000' })).toBe(true)
    expect(hasExited({ ...own, boot: '000000', namespace: '000000' })).toBe(true)
    expect(isStaleTag(createProcessTag().replace(/^(.{8}).{6}/, '$1000000'))).toBe(true)
  })

  it('of another space of process numbers is unknown', () => {
    expect(hasExited({ ...own, namespace: '000000', start: '1' })).toBeUndefined()
  })

  it.runIf(isLinux)('is over if another process has its number now', () => {
    expect(hasExited({ ...own, start: '1' })).toBe(true)
  })

  it('is over when it has ended', () => {
    const tag = spawnSync(process.execPath, ARGS, { encoding: 'utf8' }).stdout
    expect(hasExited(parseOwner(tag))).toBe(true)
    expect(isStaleTag(tag)).toBe(true)
  })

  it.runIf(isLinux)('is over when it was killed, even if nobody has waited for it', async () => {
    // The shell becomes a program that waits for no child.
    const parent = spawn('sh', ['-c', '"$0" "$@" & exec sleep 600', process.execPath, ...ARGS])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const killed = parseOwner(String((await once(parent.stdout, 'data'))[0]))
    await expect.poll(() => hasExited(killed), { timeout: 10_000 }).toBe(true)
    expect(process.kill(killed.pid, 0)).toBe(true)
  })
})
