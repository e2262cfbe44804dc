import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { programFile } from '../support/program-file.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-leases-'))
const program = programFile('lease-process')
let server: PostgresServer
let homes = 0

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start({ fsync: true })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

/** A machine's own directory for a home. */
function machinePath(name: string): string {
  return join(scratch, `${name}-${homes}`)
}

/** Two machines on a new home with a vault `base` that has `/plan.md`. */
async function createTeam(): Promise<{ url: string; ann: Home; bob: Home }> {
  const url = server.url(`leases_${++homes}`)
  const ann = await openHome({ url, path: machinePath('ann'), freshness: 'strict' })
  const bob = await openHome({ url, path: machinePath('bob'), freshness: 'strict' })
  const base = await ann.createVault('base')
  await base.write('/plan.md', 'one')
  return { url, ann, bob }
}

/** A process of a machine that has leased a vault. */
class Holder {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#process = child
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  static async start(url: string, machine: string): Promise<Holder> {
    const args = [program, url, machinePath(machine), 'base']
    const holder = new Holder(spawn(process.execPath, args, { stdio: 'pipe' }))
    holder.#process.stderr.pipe(process.stderr)
    expect(await holder.#next()).toBe('leased')
    return holder
  }

  /** Sends a command and returns the answer. */
  ask(command: string): Promise<string> {
    this.#process.stdin.write(`${command}\n`)
    return this.#next()
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }

  async #next(): Promise<string> {
    const { value } = await this.#lines.next()
    return String(value)
  }
}

/** Makes the database believe that every session is silent for two minutes. */
async function ageSessions(): Promise<void> {
  const client = new pg.Client({ host: server.directory, user: 'coppice', database: 'postgres' })
  await client.connect()
  await client.query(`update leases_${homes}.sessions set time = time - interval '2 minutes'`)
  await client.end()
}

async function readShared(home: Home, path: string, vault = 'base'): Promise<string> {
  return readText(await home.vault(vault), path)
}

describe.runIf(hasPostgres)('the change count of a shared home', () => {
  it('changes with its vaults, and with those that are on this machine only', async () => {
    const { ann } = await createTeam()
    const counts = [await ann.getChangeCount()]
    await (await ann.vault('base')).write('/plan.md', 'two')
    counts.push(await ann.getChangeCount())
    const own = await ann.createVault('link-own')
    counts.push(await ann.getChangeCount())
    await own.write('/f', 'x')
    counts.push(await ann.getChangeCount())
    expect(new Set(counts).size).toBe(counts.length)
    await ann.close()
  })
})

describe.runIf(hasPostgres)('a leased vault', () => {
  it('shows others what was shipped, and refuses their changes with the name of the holder', async () => {
    const { ann, bob } = await createTeam()
    const lease = await ann.lease('base')
    await lease.vault.write('/new.md', 'new')
    await lease.vault.checkpoint('named', { description: 'mine' })
    await lease.vault.write('/more.md', 'more')
    await lease.flush()
    expect(await readShared(bob, '/new.md')).toBe('new')
    const theirs = await bob.vault('base')
    expect((await theirs.checkpoints()).map(({ name }) => name)).toContain('named')
    await expect(theirs.write('/bob.md', 'x')).rejects.toThrow(/EUNAVAILABLE.*'base' is leased by .+@.+/)
    await expect(theirs.remove('/plan.md')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await expect(bob.deleteVault('base')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await expect(bob.lease('base')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    const fork = await bob.fork('base', 'bobs')
    await fork.write('/bob.md', 'x')
    await expect(bob.merge('bobs', 'base')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await lease.release()
    await bob.merge('bobs', 'base')
    expect(await readShared(ann, '/bob.md')).toBe('x')
    expect(await readShared(ann, '/more.md')).toBe('more')
    for (const home of [ann, bob]) expect((await home.fsck()).damaged).toEqual([])
    await ann.close()
    await bob.close()
  })

  it('has the synchronous faces of a local home, and forks and merges where others see them', async () => {
    const { ann, bob } = await createTeam()
    await using lease = await ann.lease('base')
    lease.vault.sync.mkdir('/sync')
    const files = await ann.posix('base')
    expect(files.readdir(1).some(({ name }) => name === 'sync')).toBe(true)
    await ann.fork('base', 'task')
    expect(await (await bob.vault('task')).exists('/sync')).toBe(true)
    await bob.fork('task', 'other')
    await lease.vault.write('/later.md', 'later')
    await ann.merge('base', 'other')
    expect(await readShared(bob, '/later.md', 'other')).toBe('later')
    await lease.release()
    await ann.close()
    await bob.close()
  })

  it('is shipped by the next process of the machine if the holder was killed', async () => {
    const { url, ann, bob } = await createTeam()
    await ann.close()
    const holder = await Holder.start(url, 'ann')
    await holder.ask('write /durable.md durable')
    await holder.ask('flush')
    await holder.ask('write /late.md late')
    await holder.kill()
    expect(await readShared(bob, '/durable.md')).toBe('durable')
    const next = await openHome({ url, path: machinePath('ann') })
    expect(await readShared(next, '/late.md')).toBe('late')
    expect(next.unshipped).toEqual([])
    expect(await readShared(bob, '/late.md')).toBe('late')
    await (await bob.vault('base')).write('/free.md', 'x')
    expect((await bob.fsck()).damaged).toEqual([])
    await next.close()
    await bob.close()
  })

  it('is refused to a machine that slept past its lease, which keeps its changes as a fork', async () => {
    const { url, ann, bob } = await createTeam()
    await ann.close()
    const holder = await Holder.start(url, 'ann')
    await holder.ask('write /durable.md durable')
    await holder.ask('flush')
    await holder.ask('write /late.md late')
    holder.signal('SIGSTOP')
    await ageSessions()
    const lease = await bob.lease('base')
    await lease.vault.write('/late.md', 'of bob')
    await lease.flush()
    await bob.gc()
    holder.signal('SIGCONT')
    const refused = await holder.ask('flush')
    expect(refused).toMatch(
      /ECONFLICT.*another machine has taken 'base'.*coppice merge base-unshipped-1 base/,
    )
    await lease.release()
    expect(await readShared(bob, '/late.md')).toBe('of bob')
    expect(await readShared(bob, '/durable.md')).toBe('durable')
    expect(await readShared(bob, '/late.md', 'base-unshipped-1')).toBe('late')
    await holder.kill()
    expect((await bob.fsck()).damaged).toEqual([])
    await bob.close()
  })

  it('is kept as a fork if the holder was killed and another machine took it meanwhile', async () => {
    const { url, ann, bob } = await createTeam()
    await ann.close()
    const holder = await Holder.start(url, 'ann')
    holder.signal('SIGSTOP')
    holder.signal('SIGCONT')
    await holder.ask('write /late.md late')
    await holder.kill()
    const lease = await bob.lease('base')
    await lease.vault.write('/bob.md', 'x')
    await lease.release()
    const next = await openHome({ url, path: machinePath('ann') })
    await next.vaults()
    expect(next.unshipped).toEqual([expect.stringContaining("in the fork 'base-unshipped-1'")])
    expect(await readShared(next, '/late.md', 'base-unshipped-1')).toBe('late')
    await next.merge('base-unshipped-1', 'base')
    expect(await readShared(bob, '/late.md')).toBe('late')
    expect(await readShared(next, '/bob.md')).toBe('x')
    await next.close()
    await bob.close()
  })
})
