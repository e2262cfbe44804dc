import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryFs, readText } from 'coppice'
import { createBash } from 'coppice/adapters/just-bash'
import { openHome } from 'coppice/store'
import { Bash, DefenseInDepthBox, defineCommand, InMemoryFs } from 'just-bash'
import { describe, expect, it } from 'vitest'
import { PlainFs } from './plain-fs.ts'

/** Calls that a file system with a database or a network needs, and that just-bash blocks in scripts. */
async function useOfTheMachine(): Promise<void> {
  await new Promise((done) => setTimeout(done, 0))
  await new Promise((done) => setImmediate(done))
  await wait(0)
  if (process.env['PATH'] === undefined) throw new Error('there is no environment')
  await import('node:zlib')
}

/** A file system as others write it: called inside the sandbox. */
class NaiveFs extends InMemoryFs {
  override async readFileBuffer(path: string): Promise<Uint8Array> {
    await useOfTheMachine()
    return super.readFileBuffer(path)
  }
}

const script = 'mkdir d; echo x > d/a; cat d/a >> d/b; cp d/b d/c; mv d/c d/e; ls d; cat d/e; rm d/a'

/** A command as untrusted as a script, which reports what was blocked. */
const probe = defineCommand(
  'probe',
  async () => {
    setTimeout(() => {}, 0)
    return { stdout: 'not blocked\n', stderr: '', exitCode: 0 }
  },
  { trusted: false },
)

describe("just-bash's hardening", () => {
  it('blocks calls of a file system inside the sandbox', async () => {
    const { stdout, stderr, exitCode } = await new Bash({
      fs: new NaiveFs({ '/a': 'text' }),
      cwd: '/',
    }).exec('cat a')
    expect({ stdout, isBlocked: stderr.length > 0, isFailed: exitCode !== 0 }).toEqual({
      stdout: '',
      isBlocked: true,
      isFailed: true,
    })
  })

  it('stays active in our shell', async () => {
    const bash = await createBash(new MemoryFs(), { customCommands: [probe] })
    const { stdout, stderr } = await bash.exec('probe')
    expect(stdout).toBe('')
    expect(stderr).toContain('security violation')
    expect(DefenseInDepthBox.getInstance().getStatus()).toMatchObject({ state: 'enabled' })
  })

  it('is detected by the probe', async () => {
    const bash = await createBash(new MemoryFs(), { customCommands: [probe], defenseInDepth: false })
    expect(await bash.exec('probe')).toMatchObject({ stdout: 'not blocked\n', exitCode: 0 })
  })

  it('does not block a file system with timers, an environment and packages to load', async () => {
    let calls = 0
    const files = new MemoryFs()
    const fs = new PlainFs(files, async () => {
      await useOfTheMachine()
      expect(DefenseInDepthBox.isInSandboxedContext()).toBe(false)
      calls++
    })
    const bash = await createBash(fs)
    expect(await bash.exec(script)).toMatchObject({ stdout: 'a\nb\ne\nx\n', stderr: '', exitCode: 0 })
    expect(await readText(files, '/d/e')).toBe('x\n')
    expect(calls).toBeGreaterThan(10)
  })

  it.each(['sqlite', 'lmdb', 'level', 'memory'] as const)('does not block a vault on %s', async (engine) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'coppice-hardening-'))
    await using home = await openHome(engine === 'memory' ? {} : { path: directory.path, engine })
    const vault = await home.createVault('v')
    const bash = await createBash(vault)
    expect(await bash.exec(script)).toMatchObject({ stdout: 'a\nb\ne\nx\n', stderr: '', exitCode: 0 })
    expect(await readText(vault, '/d/b')).toBe('x\n')
  })

  it('allows two concurrent shells', async () => {
    const fs = new MemoryFs()
    const shells = await Promise.all([createBash(fs), createBash(fs)])
    const runs = shells.map((bash, index) => bash.exec(`for i in 1 2 3; do echo ${index} >> log$i; done`))
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect((await readText(fs, '/log3')).split('\n').sort()).toEqual(['', '0', '1'])
  })
})
