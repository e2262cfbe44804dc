import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { getLoaders, isCommandGroup } from '../../src/cli/command-registry.ts'
import { type Run, root, runNode } from '../support/run-node.ts'
import { Cli } from './run-cli.ts'

const coppice = (...args: string[]): Promise<Run> => runNode(['bin/coppice.js', ...args])

describe('coppice', () => {
  it('says how to end a command that waits for a server, if a signal does not end it soon', async () => {
    // A silent one is given up after two seconds; this one sends notices and never answers.
    const slow = createServer((socket) => {
      const timer = setInterval(() => socket.write(Buffer.from('N\0\0\0\u000bMwait\0\0', 'latin1')), 200)
      socket.on('close', () => clearInterval(timer)).on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    onTestFinished(() => void slow.close())
    const { port } = slow.address() as AddressInfo
    const home = `postgres://ann@127.0.0.1:${port}/work?sslmode=disable`
    const waiting = new Cli().start(['ls'], { env: { COPPICE_HOME: home } })
    await once(slow, 'connection')
    waiting.kill('SIGINT')
    const [hint] = await once(waiting.stderr.setEncoding('utf8'), 'data')
    expect(hint).toBe('coppice: still ending; a second Ctrl-C ends it at once and leaves the home intact\n')
    waiting.kill('SIGINT')
    expect(await once(waiting, 'close')).toEqual([null, 'SIGINT'])
  })

  it('shows its commands, with and without --help', async () => {
    const run = await coppice()
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain('tour')
    expect(run.stdout.match(/^ {2}\w+ {2,}/gm)).toHaveLength(10)
    expect((await coppice('--help')).stdout).toBe(run.stdout)
    const all = await coppice('help', '--all')
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(all.stdout).toMatch(/^Files:$/m)
  })

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const word of ['--version', '-v', '-V', 'version'])
      expect((await coppice(word)).stdout).toBe(`${version}\n`)
  })

  it('suggests the intended command for an unknown one, with exit code 2', async () => {
    const run = await coppice('tuor')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain("no command 'tuor'; did you mean 'tour'?")
    expect((await coppice('checkpoint', 'frobnicate')).stderr).toMatch(
      /'checkpoint frobnicate'; see coppice checkpoint --help\n$/,
    )
  })

  it('suggests at most three commands', async () => {
    const { stderr } = await coppice('xs')
    expect(stderr.match(/' or '/g)?.length ?? 0).toBeLessThan(3)
  })

  it('has an imperative line of at most ten words and two examples for every command', async () => {
    const entries = await Promise.all([...getLoaders().values()].map((load) => load()))
    for (const entry of entries) {
      const commands = isCommandGroup(entry) ? entry.commands : [entry]
      const summaries = [entry, ...commands].map((one) => (isCommandGroup(one) ? one : one.definition))
      for (const { name, summary } of summaries)
        expect(summary.split(' ').length, `${name}: ${summary}`).toBeLessThanOrEqual(10)
      for (const { definition } of commands)
        expect(definition.examples.length, definition.name).toBeGreaterThanOrEqual(2)
    }
  })

  it.each([
    [['tour', '--slow'], "no option '--slow'"],
    [['ls', '--vautl', 'base'], "did you mean '--vault'"],
    [['cat'], '<path> is missing'],
    [['stat', '/a', '/b'], "unexpected argument '/b'"],
    [['ls', '--at'], "'--at' needs a value"],
    [['ls', '--long=yes'], "'--long' takes no value"],
    [['find', '--type', 'x'], '--type takes one of f, d, l'],
    [['completion', 'tcsh'], '<shell> takes one of bash, zsh, fish'],
    [['run', 'npm', 'test'], "no command 'run'; did you mean 'exec'?"],
    [['delete', 'fix-1'], "no command 'delete'; did you mean 'drop' or 'rm'?"],
    [['hooks', 'add'], "no command 'hooks add'; did you mean 'install'?"],
    [['hook', 'install', 'claude'], "no command 'hook install'; did you mean 'hooks install'?"],
    [['fork', 'list'], 'coppice fork <source> list; see coppice forks, or coppice vault list'],
    [['fork', 'rm'], 'see coppice drop --help'],
    [['vault', 'drop'], "no command 'vault drop'; did you mean 'delete'?"],
    [['DIFF'], "no command 'DIFF'; did you mean 'diff'?"],
    [['hlep'], "no command 'hlep'; did you mean 'help'?"],
    [['--verison'], "no command '--verison'; did you mean '--version'?"],
    [['exec', '--fork', '--', 'true'], "'--fork' needs a value"],
    [['diff', '--fork', 'fix-1'], "no option '--fork'; name the fork without an option"],
    [['enter', 'fix-1', 'npm', 'test'], "unexpected argument 'npm'; put -- before a <command>"],
    [['--home', '/tmp', 'ls'], "options such as '--home' come after the command"],
  ])('answers %j with exit code 2 and the problem', async (args, message) => {
    const run = await coppice(...args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/^coppice: .*; see coppice|See coppice/)
    expect(run.stderr).toContain(message)
  })

  it('prints JSON on request, also for errors', async () => {
    const { stderr } = await coppice('tour', '--json', '--slow')
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'EUSAGE', message: expect.any(String) } })
  })

  it.skipIf(!existsSync('/dev/full'))('fails if its output cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    for (const words of ['--help', '--version', 'help exec', 'completion bash']) {
      const args = [join(root, 'bin/coppice.js'), ...words.split(' ')]
      const run = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
      expect(run, words).toMatchObject({
        status: 1,
        stderr: 'coppice: ENOSPC: no space left on device, write\n',
      })
    }
  })

  it('loads no package at the start of the commands that people wait for', async () => {
    const cli = new Cli()
    const hook = "import{registerHooks}from'node:module';registerHooks({load(url,context,next){"
    const report = "if(url.includes('/node_modules/'))process._rawDebug(url);return next(url,context)}})"
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook + report)}` }
    for (const words of ['exec --fork a -- touch new', 'enter a -- true', 'forks', 'diff a'])
      expect((await cli.run(words.split(' '), { env })).stderr, words).not.toContain('/node_modules/')
    // A command that needs a package, to see that the hook reports it.
    writeFileSync(join(cli.files, 'agents.yaml'), 'agents: {}')
    expect((await cli.run(['compose', 'up', 'agents.yaml'], { env })).stderr).toContain('/node_modules/yaml/')
  })

  it('keeps compiled code for the next run, and survives any damage of it', async () => {
    const cli = new Cli()
    const cache = join(cli.scratch, 'cache')
    mkdirSync(cache)
    const run = () => cli.run(['vault', 'list'], { env: { XDG_CACHE_HOME: cache } })
    const expected = await run()
    const [file = ''] = globSync('coppice/*/*/vault', { cwd: cache })
    const path = join(cache, file)
    const code = readFileSync(path)
    for (const damaged of [code.subarray(0, code.length / 2), Buffer.alloc(code.length), invert(code)]) {
      writeFileSync(path, damaged)
      expect(await run()).toEqual(expected)
      expect(readFileSync(path).length).toBeGreaterThan(code.length / 2)
    }
  })

  it('removes compiled code that nothing used for a month, and looks for it once a day', async () => {
    const cli = new Cli()
    const cache = join(cli.scratch, 'cache')
    const root = join(cache, 'coppice')
    const [now, old] = [Date.now() / 1000, Date.now() / 1000 - 31 * 86_400]
    const make = (directory: string, time: number) => {
      const path = join(root, directory)
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'code'), '')
      for (const each of [join(path, 'code'), path]) utimesSync(each, time, time)
    }
    const run = async () => {
      await cli.run(['vault', 'list'], { env: { XDG_CACHE_HOME: cache } })
      return readdirSync(root).filter((name) => !name.startsWith(process.version))
    }
    make('v22.13.0-x64-linux/one', old)
    make('v22.14.0-x64-linux/one', old)
    make('v22.14.0-x64-linux/two', now)
    make('v22.13.0-x64-0123abcd-0', old)
    make('v22.14.0-x64-0123abcd-0', now)
    make('of-a-person', old)
    const left = ['of-a-person', 'v22.14.0-x64-0123abcd-0', 'v22.14.0-x64-linux']
    expect(await run()).toEqual(left)
    expect(readdirSync(join(root, 'v22.14.0-x64-linux'))).toEqual(['two'])
    make('v22.13.0-x64-linux/one', old)
    expect(await run()).toEqual([...left.slice(0, 1), 'v22.13.0-x64-linux', ...left.slice(1)])
    const [mark = ''] = globSync('*/*/.used', { cwd: root })
    utimesSync(join(root, mark), old, old)
    expect(await run()).toEqual(left)
  })

  it('explains to an old Node which version it needs', async () => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })`
    const run = await runNode([
      '--import',
      `data:text/javascript,${encodeURIComponent(pretend)}`,
      'bin/coppice.js',
    ])
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/needs Node 22\.13 or newer; this is Node 20\.11\.0/)
    expect(run.stderr).toContain('nvm install 24')
  })
})

/** Changes a byte in the middle. */
function invert(bytes: Uint8Array): Uint8Array {
  const middle = bytes.length >> 1
  return bytes.map((byte, index) => (index === middle ? 255 - byte : byte))
}

describe('coppice tour', () => {
  it('runs to its end without colours or pauses if the output is not a terminal', async () => {
    const run = await coppice('tour')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain('In your own project: coppice exec')
    expect(run.stdout).not.toContain('\u001b')
  })

  it('shows exec, diff, apply and undo by their real output', async () => {
    const scenes: { code: string; result: string }[] = JSON.parse((await coppice('tour', '--json')).stdout)
    expect(scenes.map(({ code }) => code.split('\n')[0])).toEqual([
      'coppice exec -- ./repair.sh',
      'coppice diff',
      'coppice apply',
      'coppice apply --undo',
    ])
    const [exec, diff, apply, undo] = scenes.map(({ result }) => result)
    expect(exec).toMatch(/M \/src\/cart\.ts {2}\+2 -1\n {2}D \/src\/old\.ts.*=> 0 \/\/ TODO$/s)
    expect(diff).toContain('+  prices.reduce((sum, price) => sum + price, 0)')
    expect(apply).toMatch(/wrote 2 changes of shop-1 .*prices\.reduce/s)
    expect(undo).toMatch(/undid 2 changes of shop-1; .*=> 0 \/\/ TODO$/s)
  })

  it('leaves nothing behind, and does not touch the home of the user', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'coppice-tour-test-'))
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
    const env = { TMPDIR: join(scratch, 'tmp'), HOME: join(scratch, 'user'), COPPICE_HOME: '' }
    for (const directory of [env.TMPDIR, env.HOME]) mkdirSync(directory)
    expect(await runNode(['bin/coppice.js', 'tour'], { env })).toMatchObject({ code: 0 })
    expect(readdirSync(env.TMPDIR)).toEqual([])
    expect(readdirSync(env.HOME)).not.toContain('.coppice')
  })

  it('shows its help', async () => {
    const run = await coppice('tour', '--help')
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('Examples:')
  })
})
