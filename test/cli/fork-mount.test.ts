import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listCoppiceMounts } from '../../src/fuse/index.ts'
import { runAsOrdinaryUser, whyNoOrdinaryMounts } from '../support/ordinary-user.ts'
import { run, whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const reason = process.getuid?.() === 0 ? whyNoOverlay() : 'only root can mount on the machine'

/** A project with the fork `fix`, and a directory to mount it on. */
class Project extends Cli {
  readonly place: string = join(this.scratch, 'place')
  /** All messages of the last server. */
  complaint: Promise<string> = Promise.resolve('')

  static async create(): Promise<Project> {
    const cli = new Project()
    mkdirSync(cli.place)
    writeFileSync(join(cli.files, 'a'), 'one\n')
    writeFileSync(join(cli.files, 'gone'), 'x\n')
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo new > new; rm gone'])
    return cli
  }

  async mount(...options: string[]): Promise<ChildProcessWithoutNullStreams> {
    const child = this.start(['mount', 'fix', this.place, ...options])
    this.complaint = text(child.stderr)
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    expect(String(said), said instanceof Buffer ? '' : await this.complaint).toContain('fix is mounted on')
    return child
  }

  get isMounted(): boolean {
    return listCoppiceMounts().some(({ directory }) => directory === this.place)
  }
}

describe.skipIf(reason !== undefined)(`coppice mount of a fork${reason ? `: ${reason}` : ''}`, () => {
  it('shows the directory with the fork, which has the changes when it is unmounted', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    const ended = once(server, 'exit')
    expect(readdirSync(cli.place).sort()).toEqual(['a', 'new'])
    writeFileSync(join(cli.place, 'a'), 'two\n')
    rmSync(join(cli.place, 'new'))
    expect(await cli.ok('forks')).toContain(`runs coppice mount fix ${cli.place}`)
    expect((await cli.run(['drop', 'fix', '--force'])).stderr).toContain(
      `fix is in use by 'coppice mount fix ${cli.place}'; unmount it first with: coppice unmount ${cli.place}\n`,
    )
    expect(await cli.ok('unmount', cli.place)).toBe(`unmounted ${cli.place}\n`)
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^M \/a {2}\+1 -1\nD \/gone {2}\+0 -1\n2 paths/)
    expect(await ended).toEqual([0, null])
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('one\n')
    expect([readdirSync(cli.place), readdirSync(join(cli.home, 'mounts'))]).toEqual([[], []])
  })

  it('keeps the changes after an interruption, also while it is in use', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    run('sh', '-c', 'cd "$0"; sleep 30 > /dev/null 2>&1 & echo $! > user', cli.place)
    const user = Number(readFileSync(join(cli.place, 'user'), 'utf8'))
    server.kill('SIGINT')
    await once(server, 'exit')
    process.kill(user)
    expect(await cli.complaint).toContain('fix has 1 more change: coppice diff fix')
    expect(cli.isMounted).toBe(false)
    expect(await cli.ok('diff', 'fix', '--stat')).toContain('A /user')
  })

  it('ends when its process is killed, and the next command stores the changes', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    writeFileSync(join(cli.place, 'a'), 'two\n')
    rmSync(join(cli.place, 'new'))
    run('mkfifo', join(cli.place, 'pipe'))
    server.kill('SIGKILL')
    await expect.poll(() => cli.isMounted, { timeout: 10_000 }).toBe(false)
    expect((await cli.run(['vault', 'list'])).stderr).toMatch(
      /a mount of fix was killed; the fork has its changes now\ncoppice: not kept: \/pipe; /,
    )
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^M \/a {2}\+1 -1\nD \/gone {2}\+0 -1\n2 paths/)
    expect(readdirSync(join(cli.home, 'mounts'))).toEqual([])
  })

  it('that is killed reverts nothing of commands that ran in the fork meanwhile', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    appendFileSync(join(cli.place, 'new'), 'mine\n')
    await cli.ok('diff', 'fix')
    const script = 'echo theirs >> new; echo o > other; rm a'
    await cli.run(['exec', '--fork', 'fix', '-c', '--', script])
    writeFileSync(join(cli.place, 'last'), 'last\n')
    server.kill('SIGKILL')
    await expect.poll(() => cli.isMounted, { timeout: 10_000 }).toBe(false)
    expect((await cli.run(['vault', 'list'])).stderr).toContain('a mount of fix was killed; the fork has its')
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(
      /^D \/a .*\nD \/gone .*\nA \/last .*\nA \/new {2}\+3 -0\nA \/other /,
    )
  })

  it('gives the fork the changes so far when a command looks at it', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    writeFileSync(join(cli.place, 'a'), 'two\n')
    expect(await cli.ok('diff', 'fix', '--stat')).toContain('M /a')
    writeFileSync(join(cli.place, 'a'), 'one\n')
    writeFileSync(join(cli.place, 'more'), 'more\n')
    expect(await cli.ok('forks')).toMatch(/^fix .* 3 files \+2 -1 /)
    await cli.ok('apply', 'fix', '--', 'more')
    rmSync(join(cli.place, 'more'))
    server.kill('SIGINT')
    await once(server, 'exit')
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^D \/gone.*\nD \/more.*\nA \/new/)
  })

  it('is named with the way to continue it if its process is stopped', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    writeFileSync(join(cli.place, 'a'), 'two\n')
    onTestFinished(() => void server.kill('SIGCONT'))
    server.kill('SIGSTOP')
    await expect.poll(() => readFileSync(`/proc/${server.pid}/stat`, 'utf8')).toMatch(/\) T /)
    const { code, stderr } = await cli.run(['diff', 'fix', '--stat'])
    const advice = `the process that mounted it is stopped; continue it with: kill -CONT ${server.pid}`
    expect([code, stderr]).toEqual([1, expect.stringContaining(advice)])
    server.kill('SIGCONT')
    expect(await cli.ok('diff', 'fix', '--stat')).toContain('M /a')
    server.kill('SIGINT')
    await once(server, 'exit')
  })

  it('keeps what commands change in the fork meanwhile', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    const append = (line: string) => appendFileSync(join(cli.place, 'new'), line)
    append('mine\n')
    await cli.ok('diff', 'fix')
    const script = 'echo theirs >> new; rm a; echo o > other'
    await cli.run(['exec', '--fork', 'fix', '-c', '--', script])
    const changes = /^D \/a .*\nD \/gone .*\nA \/new {2}\+3 -0\nA \/other /
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(changes)
    // The mount does not show them, and adds to its own version.
    writeFileSync(join(cli.place, 'new'), 'first\nnew\nmine\n')
    const merged = await cli.ok('diff', 'fix', '--patch')
    expect(merged).toContain('+first\n+new\n+mine\n+theirs\n')
    server.kill('SIGINT')
    await once(server, 'exit')
    expect(await cli.ok('diff', 'fix', '--patch')).toBe(merged)
  })

  it('goes on in the background until it is unmounted', async () => {
    const cli = await Project.create()
    expect(await cli.ok('mount', 'fix', cli.place, '--background')).toContain(`ends it`)
    expect(readdirSync(cli.place).sort()).toEqual(['a', 'new'])
    const second = await cli.run(['mount', 'fix', cli.place, '--background'])
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`unmount it first with: coppice unmount ${cli.place}`),
    })
    const swapped = await cli.run(['mount', cli.place, 'fix'])
    expect(swapped).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`the directory comes last: coppice mount <name> ${cli.place}`),
    })
    await cli.ok('unmount', cli.place)
    expect(cli.isMounted).toBe(false)
    const missing = await cli.run(['mount', 'none', cli.place, '--background'])
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("'none'") })
  })

  it('is read-only on request', async () => {
    const cli = await Project.create()
    const server = await cli.mount('--read-only')
    expect(() => writeFileSync(join(cli.place, 'a'), 'x')).toThrow(/EROFS/)
    server.kill('SIGINT')
    expect(await once(server, 'exit')).toEqual([0, null])
  })

  it('is refused inside of the directory itself', async () => {
    const cli = await Project.create()
    const inside = join(cli.files, 'inside')
    mkdirSync(inside)
    const { code, stderr } = await cli.run(['mount', 'fix', inside])
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('choose a directory outside'),
    })
    expect(listCoppiceMounts().map(({ directory }) => directory)).not.toContain(inside)
  })

  it('is refused while a command runs in the fork', async () => {
    const cli = await Project.create()
    const server = await cli.mount()
    const other = join(cli.scratch, 'other')
    mkdirSync(other)
    expect((await cli.run(['mount', 'fix', other])).stderr).toContain("fix is in use by 'coppice mount fix")
    server.kill('SIGINT')
    await once(server, 'exit')
  })

  it.skipIf(whyNoOrdinaryMounts() !== undefined)('works for ordinary users, too', () => {
    const { lines } = runAsOrdinaryUser(new Cli().scratch, ORDINARY_USER)
    expect(lines).toEqual([
      'shown: a new',
      'unmounted: M /a +1 -1 D /gone +0 -1 A /moved +1 -0 3 paths, +2 -2 lines',
      'the directory: one',
      'interrupted: A /more  +1 -0',
      'left: 0',
    ])
  })
})

const ORDINARY_USER = `
  mkdir place project; cd project; echo one > a; echo x > gone
  coppice exec --fork fix -c -- "echo new > new; rm gone" 2> $said
  serve fix ../place; echo "shown:" $(ls ../place)
  sed -i s/one/two/ ../place/a; mv ../place/new ../place/moved
  coppice unmount ../place > /dev/null; echo "unmounted:" $(coppice diff fix --stat); wait
  echo "the directory: $(cat a)"
  serve fix ../place; echo more > ../place/more; kill -INT $!; wait
  echo "interrupted: $(coppice diff fix --stat | grep more)"
  echo "left: $(find ../place ../home/mounts -mindepth 1 | wc -l)"
`
