import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { whyNoBubblewrap, whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

/** Creates a project in the working directory of the program. */
function project(): Cli {
  const cli = new Cli()
  mkdirSync(join(cli.files, 'src'))
  writeFileSync(join(cli.files, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(cli.files, 'src/b.txt'), 'b\n')
  return cli
}

const SESSIONS = [
  'dir',
  ...(whyNoOverlay() === undefined ? ['overlay'] : []),
  ...(whyNoMount() === undefined ? ['fuse'] : []),
]
const SCRIPT = 'echo hi; echo three >> a.txt; rm src/b.txt; echo n > new.txt'

describe('coppice exec', () => {
  it.skipIf(whyNoBubblewrap() !== undefined)(
    'records what the machine supports, and finds it out again when something has changed',
    async () => {
      const cli = new Cli()
      const file = join(cli.home, 'host-support.json')
      const run = () => cli.ok('exec', '--', 'true')
      await run()
      const record = readFileSync(file, 'utf8')
      expect(JSON.parse(record)).toMatchObject({ support: { hasBubblewrap: true } })
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const other = JSON.stringify({ fingerprint: 'another boot', support: { privilege: 'root' } })
      for (const text of ['cut off', '', other]) {
        writeFileSync(file, text)
        await run()
        expect(readFileSync(file, 'utf8')).toBe(record)
      }
    },
  )

  it.skipIf((whyNoBubblewrap() ?? whyNoOverlay()) !== undefined)(
    'records the directories over which an overlay was mounted, which saves the next command a trial',
    async () => {
      const cli = new Cli()
      const file = join(cli.home, 'host-support.json')
      const readOverlays = () => JSON.parse(readFileSync(file, 'utf8')).support.overlays
      await cli.ok('exec', '--', 'true')
      const [first] = readOverlays()
      const other = new Cli()
      await other.ok('exec', '--home', cli.home, '--', 'true')
      expect(readOverlays()).toEqual([first, expect.any(String)])
      expect(await cli.ok('exec', '--', 'echo', 'again')).toContain('again')
      // Records of earlier versions have none.
      const record = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...record, support: { ...record.support, overlays: undefined } }))
      await cli.ok('exec', '--', 'true')
      expect(readOverlays()).toEqual([first])
    },
  )

  it('counts the files of a large new directory, and lists them on demand', async () => {
    const cli = new Cli()
    const line = 'mkdir -p lib/a; for i in $(seq 150); do echo $i > lib/a/f$i; done; echo x > x'
    const envelope = await cli.json('exec', '--fork', 'big', '--shell', '--', line)
    expect(envelope).toMatchObject({
      result: { changed_files: { added: ['/lib/', '/x'], collapsed: { '/lib/': 150 } } },
    })
    for (const args of [['diff'], ['diff', '--stat'], ['diff', '--vault', 'big']])
      expect(await cli.ok(...args)).toMatch(/^A \/lib\/ {2}150 files\n/)
    expect(await cli.ok('diff')).toMatch(/\n\+x\n$/)
    const lists = [
      ['diff', '--all'],
      ['diff', '--patch'],
      ['diff', '--json'],
    ]
    for (const args of lists)
      expect((await cli.ok(...args)).match(/lib\/a\/f150\b/g)?.length).toBeGreaterThan(0)
    const removed = await cli.run(['exec', '--fork', 'big', '--', 'rm', '-r', 'lib'])
    expect(removed.stderr).toContain('D /lib/  150 files\n')
  })

  it('runs a command on a fork of the unchanged directory, and lists the changes', async () => {
    const cli = project()
    const run = await cli.run(['exec', '-c', '--', SCRIPT])
    expect(run.code).toBe(0)
    expect(run.stdout).toBe('hi\n')
    expect(run.stderr).toContain('M /a.txt  +1')
    expect(run.stderr).toContain('A /new.txt  +1')
    expect(run.stderr).toContain('D /src/b.txt  -1')
    expect(run.stderr).toContain('coppice apply files-1')
    expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(readdirSync(cli.files)).toEqual(['a.txt', 'src'])
    expect(readdirSync(join(cli.home, 'sessions'))).toEqual([])
  })

  it('lists the commands that ran or were refused, the newest first', async () => {
    const cli = project()
    await cli.run(['exec', '--', 'sh', '-c', 'exit 3'])
    await cli.run(['exec', '--network', '--', 'curl', 'http://127.0.0.1:1'])
    const lines = (await cli.ok('log', '--commands')).trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/ refused .* curl http:\/\/127\.0\.0\.1:1 /),
      expect.stringMatching(/ exit 3 .* sh -c 'exit 3' /),
    ])
    expect(JSON.parse(await cli.ok('log', '--commands', '-n', '1', '--json'))).toMatchObject({
      event: 'refused',
    })
  })

  it('names the option for a line of a shell that was given as a program', async () => {
    const run = await project().run(['exec', '--', 'cat a.txt | wc -l'])
    expect(run.code).toBe(127)
    expect(run.stderr).toContain("use: coppice exec --shell -- 'cat a.txt | wc -l'\n")
    const plain = await project().run(['exec', '--', 'missing'])
    expect(plain.stderr).not.toContain('--shell')
    const variable = await project().run(['exec', '--', 'FOO=1', 'env'])
    expect(variable.stderr).toContain("use: coppice exec --shell -- 'FOO=1 env'\n")
    const builtin = await project().run(['exec', '--', 'cd', 'src'])
    expect(builtin.stderr).toContain("use: coppice exec --shell -- 'cd src'\n")
  })

  it('continues in a fork, shows, applies, undoes and drops it', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    const again = await cli.run(['exec', '--fork', 'files-1', '--', 'cat', 'a.txt', 'new.txt'])
    expect(again.stdout).toBe('one\ntwo\nthree\nn\n')
    expect(await cli.ok('diff')).toContain('\n+three\n')
    expect(await cli.ok('diff', 'files-1', '--stat')).toContain(
      'M /a.txt  +1 -0\nA /new.txt  +1 -0\nD /src/b.txt',
    )
    expect(await cli.ok('apply')).toContain('wrote 3 changes of files-1')
    expect(readdirSync(cli.files, { recursive: true }).sort()).toEqual(['a.txt', 'new.txt', 'src'])
    writeFileSync(join(cli.files, 'new.txt'), 'mine\n')
    const conflict = await cli.run(['apply', '--undo'])
    expect(conflict).toMatchObject({ code: 3, stdout: '' })
    expect(conflict.stderr).toContain('since files-1 was applied\n  C /new.txt changed meanwhile\n')
    writeFileSync(join(cli.files, 'new.txt'), 'n\n')
    expect(await cli.ok('apply', '--undo')).toContain('undid 3 changes')
    expect(readFileSync(join(cli.files, 'src/b.txt'), 'utf8')).toBe('b\n')
    const refused = await cli.run(['drop'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('files-1 has 3 changes that were not applied; keep them with')
    expect(await cli.ok('drop', '--force')).toContain('dropped files-1')
    expect(await cli.ok('vault', 'list')).toBe('')
  })

  it('drops an applied or named fork without a question', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    await cli.ok('apply')
    expect(await cli.ok('drop')).toContain('dropped files-1')
    await cli.run(['exec', '-c', '--', 'echo more >> a.txt'])
    expect(await cli.ok('drop', 'files-1')).toContain('dropped files-1')
    await cli.run(['exec', '--', 'touch', 'one'])
    expect((await cli.run(['drop'])).stderr).toContain('1 change that was not applied; keep it with')
  })

  it('reports an unknown fork in a linked directory', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    await cli.ok('vault', 'create', 'one')
    await cli.ok('vault', 'create', 'two')
    const run = await cli.run(['diff', 'nosuch'])
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toContain("this directory has no fork 'nosuch'; its forks: files-1")
  })

  it('refuses to merge a fork of a directory into its mirror, so that apply keeps working', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    const { from } = Object(await cli.json('vault', 'info', 'files-1'))
    for (const words of [['files-1'], ['files-1', from.vault], ['files-1', '--theirs']]) {
      const run = await cli.run(['merge', ...words])
      expect(run).toMatchObject({ code: 1, stdout: '' })
      expect(run.stderr).toContain('use coppice apply files-1')
    }
    expect(await cli.ok('diff')).toContain('\n+three\n')
    expect(await cli.ok('apply', 'files-1')).toContain('wrote 3 changes of files-1')
    expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
  })

  it.each([
    ['writing', 'its changes were undone', 'one\ntwo\n'],
    ['written', 'its changes were complete and are kept', 'one\ntwo\nthree\n'],
  ])(
    'reports the outcome of an apply that was killed (%s), whatever command comes next',
    async (when, outcome, text) => {
      const cli = project()
      await cli.run(['exec', '-c', '--', 'echo three >> a.txt; echo n > new.txt'])
      const script = programFile('killed-apply')
      const { signal } = spawnSync(process.execPath, [script, cli.home, cli.files, when], { env: {} })
      expect(signal).toBe('SIGKILL')
      const next = await cli.run(['vault', 'list'])
      expect(next).toMatchObject({ code: 0 })
      expect(next.stderr).toBe(`coppice: an apply of files-1 was killed in this directory; ${outcome}\n`)
      expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe(text)
      expect(readdirSync(cli.files).filter((name) => name.startsWith('.'))).toEqual([])
      expect((await cli.run(['diff'])).stderr).toBe('')
    },
  )

  it('counts listed and hidden vaults separately in stats', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    const listed = await cli.json('vault', 'list')
    const { vaults, hiddenVaults } = Object(await cli.json('stats'))
    expect(vaults).toBe(Object.values(Object(listed)).flat().length)
    expect(hiddenVaults).toBeGreaterThan(0)
    expect(await cli.ok('stats')).toContain(`${vaults} and ${hiddenVaults} hidden`)
  })

  it('shows setuid and setgid, and applies them only on request', async () => {
    const cli = project()
    // Policy refuses such a chmod on the command line; one inside a script is visible only in the review.
    const script = 'chmod 4755 a.txt; echo n > new; chmod 2755 new\n'
    writeFileSync(join(cli.files, 'build.sh'), script)
    const run = await cli.run(['exec', '--', 'sh', 'build.sh'])
    expect(run.stderr).toContain('mode 0644 -> 4755 (setuid)')
    expect(run.stderr).toContain('mode 2755 (setgid)')
    expect(await cli.ok('diff')).toContain('mode of /new: 2755 (setgid)')
    for (const form of [[], ['--stat'], ['--patch']]) {
      expect(JSON.parse(await cli.ok('diff', '--json', ...form))).toMatchObject([
        { path: '/a.txt', gained: ['setuid'] },
        { path: '/new', gained: ['setgid'] },
      ])
    }
    const again = JSON.parse(await cli.ok('exec', '--json', '--', 'sh', 'build.sh'))
    expect(again.result.setuid_files).toEqual(['/a.txt', '/new'])
    await cli.ok('drop', again.fork)
    const modes = () => ['a.txt', 'new'].map((name) => statSync(join(cli.files, name)).mode & 0o7777)
    const applied = await cli.run(['apply', '--json'])
    expect(applied.stderr).toContain('setuid and setgid were not written: /a.txt, /new')
    expect(JSON.parse(applied.stdout)).toMatchObject({ setuidLeftOut: ['/a.txt', '/new'] })
    expect(modes()).toEqual([0o755, 0o755])
    await cli.ok('apply', '--keep-setuid')
    expect(modes()).toEqual([0o4755, 0o2755])
  })

  it('describes the current state of the directory', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    await cli.ok('apply')
    expect(await cli.ok('apply')).toContain('this directory already has all changes of files-1')
    writeFileSync(join(cli.files, 'a.txt'), 'mine\n')
    expect(await cli.ok('apply')).toBe(
      'nothing was written: files-1 has not changed since its last apply; paths that differ here: /a.txt\n',
    )
  })

  it('exits with 3 and writes nothing if the directory changed meanwhile', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', SCRIPT])
    writeFileSync(join(cli.files, 'a.txt'), 'mine\n')
    const run = await cli.run(['apply'])
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('C /a.txt changed meanwhile')
    expect(existsSync(join(cli.files, 'new.txt'))).toBe(false)
  })

  it('exits with the code of the command, and keeps no fork without changes', async () => {
    const cli = project()
    expect(await cli.run(['exec', '--', 'sh', '-c', 'exit 7'])).toEqual({ code: 7, stdout: '', stderr: '' })
    expect(await cli.ok('vault', 'list')).toBe('')
  })

  it('lists directories and permissions, and keeps no fork for changed times only', async () => {
    const cli = project()
    expect(await cli.run(['exec', '--', 'touch', 'a.txt'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await cli.ok('vault', 'list')).toBe('')
    const run = await cli.run(['exec', '-c', '--', 'mkdir -p new/deep; chmod 600 a.txt; chmod 700 src'])
    expect(run.stderr).toContain(
      '\n  M /a.txt  mode 0644 -> 0600\n  A /new/deep  directory\n  M /src  directory  mode 0755 -> 0700\n\nin files-1: ',
    )
    const patch =
      'mode of /a.txt: 0644 -> 0600\nnew directory /new/deep\nmode of directory /src: 0755 -> 0700\n'
    expect(await cli.ok('diff')).toBe(patch)
    expect(await cli.ok('diff', '--stat')).toContain('A /new/deep  directory\n')
  })

  it('withholds variables that look like credentials, and passes on named ones', async () => {
    const cli = project()
    const env = {
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMIK7MDENGbPxRfiCY',
      DATABASE_URL: 'postgres://me:hunter22@db/app',
      EDITOR: 'vi',
    }
    const command = ['--', 'sh', '-c', 'echo "$AWS_SECRET_ACCESS_KEY.$DATABASE_URL.$EDITOR"']
    const withheld = await cli.run(['exec', ...command], { env })
    expect(withheld.stdout).toBe('..vi\n')
    expect(withheld.stderr).toBe(
      'coppice: withheld from the command: AWS_SECRET_ACCESS_KEY, DATABASE_URL; pass one on with --env NAME\n',
    )
    const passed = await cli.run(['exec', '--env', 'DATABASE_URL', '--json', ...command], { env })
    expect(JSON.parse(passed.stdout)).toMatchObject({
      withheld_env: ['AWS_SECRET_ACCESS_KEY'],
      result: { stdout: `.${env.DATABASE_URL}.vi\n` },
    })
    const set = await cli.run(['exec', '--env', 'AWS_SECRET_ACCESS_KEY=mine', ...command], { env })
    expect(set).toMatchObject({ stdout: 'mine..vi\n', stderr: expect.not.stringContaining('AWS') })
    for (const name of ['-S', '-S=curl', 'NOT_SET_ANYWHERE'])
      expect((await cli.run(['exec', `--env=${name}`, ...command])).code, name).toBe(2)
  })

  it('prints the envelope with --json, including binary output', async () => {
    const cli = project()
    const run = await cli.run(['exec', '--json', '-c', '--', String.raw`printf '\377'; echo x > y; exit 3`])
    expect(run.code).toBe(3)
    expect(JSON.parse(run.stdout)).toMatchObject({
      schema_version: 1,
      kind: 'proxy_exec_result',
      success: false,
      fork: 'files-1',
      request: { timeout_ms: 300_000 },
      result: {
        exit_code: 3,
        stdout: { encoding: 'base64', data: '/w==' },
        changed_files: { added: ['/y'], modified: [], deleted: [] },
        decision: { action: 'allow_with_checkpoint' },
      },
    })
  })

  it('holds back commands that reach the network until approved, for one run', async () => {
    const cli = project()
    const command = ['exec', '--', 'curl', '--max-time', '1', 'http://127.0.0.1:9/']
    const refused = await cli.run(command)
    expect(refused.code).toBe(1)
    const [, id = ''] = refused.stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    expect(await cli.ok('approve')).toContain(`${id}  waits`)
    await cli.ok('approve', id)
    const allowed = await cli.run(command)
    expect(allowed.stderr).not.toContain('coppice approve')
    expect((await cli.run(command)).stderr).toContain(`coppice approve ${id}`)
  })

  it('reports a denial until the same command is approved', async () => {
    const cli = project()
    const command = ['exec', '--', 'curl', '--max-time', '1', 'http://127.0.0.1:9/']
    const [, id = ''] = (await cli.run(command)).stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    expect(await cli.ok('approve', '--deny', id)).toMatch(new RegExp(`^${id} does not run\n`))
    const refused = await cli.run(command)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('a person denied it') })
    expect(refused.stderr).not.toContain('coppice approve')
    expect(await cli.ok('approve')).toContain(`${id}  denied`)
    expect(await cli.ok('approve', id)).toContain('may run once')
    expect((await cli.run(command)).stderr).not.toContain('denied it')
    expect(await cli.run(['approve', '--deny'])).toMatchObject({ code: 2 })
  })

  it('reports a refusal as JSON, with the decision and the id for an approval', async () => {
    const cli = project()
    const refuse = async (...command: string[]) => {
      const { code, stdout, stderr } = await cli.run(['exec', '--json', '--', ...command])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      return JSON.parse(stderr).error
    }
    const gated = await refuse('curl', 'http://127.0.0.1:9/')
    expect(gated).toMatchObject({
      code: 'EACCES',
      path: realpathSync(cli.files),
      action: 'require_approval',
      categories: ['networked'],
    })
    expect(await cli.ok('approve', gated.approval)).toContain('may run once')
    const denied = await refuse('cat', '/etc/shadow')
    expect(denied).toMatchObject({ action: 'deny', categories: ['host_escape_risk'] })
    expect(denied).not.toHaveProperty('approval')
  })

  it('shows the whole command for approval', async () => {
    const cli = project()
    const command = ['curl', '--data', 'one two', 'http://127.0.0.1:9/']
    const refused = await cli.run(['exec', '--network', '--env', 'NAME=a value', '--', ...command])
    const [, id = ''] = refused.stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    const [listed, approved] = [await cli.ok('approve'), await cli.ok('approve', id)]
    expect(listed).toMatch(new RegExp(`^${id}  waits  `))
    expect(approved).toMatch(new RegExp(`^${id} may run once\n`))
    for (const text of [listed, approved]) {
      expect(text).toContain("| curl --data 'one two' http://127.0.0.1:9/\n")
      expect(text).toContain('network: yes')
      expect(text).toContain('| NAME=a value\n')
    }
  })

  it('names passed variables without their values, and approves them with the command', async () => {
    const cli = project()
    const env = { DEPLOY_TOKEN: 'value-of-a-credential' }
    const run = (...options: string[]) =>
      cli.run(['exec', ...options, '--', 'curl', 'http://127.0.0.1:9/'], { env })
    const [, id = ''] = (await run()).stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    await cli.ok('approve', '--yes', id)
    const { stderr } = await run('--env', 'DEPLOY_TOKEN')
    const [, passing = ''] = stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    expect(passing).not.toBe(id)
    const shown = await cli.ok('approve', passing)
    expect(shown).toContain('variables of yours that it gets:\n  | DEPLOY_TOKEN\n')
    expect(shown).not.toContain(env.DEPLOY_TOKEN)
  })

  it('refuses commands that leave the workspace, with only a journal line', async () => {
    const cli = project()
    const run = await cli.run(['exec', '--', 'cat', '/etc/shadow'])
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toContain('/etc/shadow')
    expect(await cli.ok('vault', 'list')).toBe('')
    const day = (await cli.ok('ls', '--vault', 'boundary', '/journal')).trim()
    const journal = await cli.ok('cat', '--vault', 'boundary', `/journal/${day}`)
    expect(journal.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(journal)).toMatchObject({ event: 'refused', decision: { action: 'deny' } })
  })

  it('stops a command at its time limit, with all its processes', async () => {
    const cli = project()
    const run = await cli.run(['exec', '--timeout', '1', '-c', '--', 'sleep 4321 & sleep 4321'])
    expect(run).toMatchObject({ code: 124, stderr: expect.stringContaining('stopped at its time limit') })
    expect(processes()).not.toContain('sleep 4321')
    expect(readdirSync(join(cli.home, 'sessions'))).toEqual([])
  })

  it('leaves no process and no directory behind when interrupted or killed', async () => {
    const cli = project()
    for (const [signal, seconds] of [
      ['SIGINT', '54321'],
      ['SIGKILL', '54322'],
    ] as const) {
      const child = cli.start(['exec', '-c', '--', `echo ready; echo x > x; sleep ${seconds}`])
      await new Promise((resolve) => child.stdout.once('data', resolve))
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill(signal)
      await ended
      await expect.poll(processes, { timeout: 30_000 }).not.toContain(`sleep ${seconds}`)
    }
    await cli.run(['exec', '--', 'true'])
    expect(readdirSync(join(cli.home, 'sessions'))).toEqual([])
    expect(existsSync(join(cli.files, 'x'))).toBe(false)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('keeps what a command had changed when %s interrupts it, and says so', async (signal, code) => {
    const cli = project()
    const child = cli.start(['exec', '--fork', 'task', '-c', '--', 'echo x > x; echo ready; sleep 54323'])
    let printed = ''
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill(signal)
    expect(await ended).toBe(code)
    expect(printed).toMatch(/interrupted; the changes so far are kept\n\n {2}A \/x/)
    expect(await cli.ok('log', '--commands')).toMatch(/ killed .* echo x > x/)
    expect(await cli.ok('cat', '--vault', 'task', '/x')).toBe('x\n')
    expect(readdirSync(join(cli.home, 'sessions'))).toEqual([])
  })

  it('prints the envelope of an interrupted command', async () => {
    const cli = project()
    const child = cli.start(['exec', '--json', '-c', '--', 'echo x > x; sleep 54324; true'])
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk
    })
    await expect.poll(processes, { timeout: 30_000 }).toMatch(/(?:^|\s)sleep 54324$/m)
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    const { fork, result } = JSON.parse(printed)
    expect(result).toMatchObject({ exit_code: null, changed_files: { added: ['/x'] } })
    expect(await cli.ok('cat', '--vault', fork, '/x')).toBe('x\n')
  })

  it('runs concurrent commands in one directory, each in its own fork', async () => {
    const cli = project()
    const runs = await Promise.all(
      ['1', '2', '3'].map((text) =>
        cli.run(['exec', '--json', '-c', '--', `echo ${text} > a.txt; sleep 0.1`]),
      ),
    )
    const forks = runs.map(({ stdout }) => JSON.parse(stdout).fork)
    expect(new Set(forks).size).toBe(3)
    for (const [index, fork] of forks.entries()) {
      expect(await cli.ok('cat', '--vault', fork, '/a.txt')).toBe(`${index + 1}\n`)
    }
  })

  describe('beside another command in the same fork', () => {
    const change = async (cli: Cli, line: string) =>
      expect((await cli.run(['exec', '--fork', 'fix', '-c', '--', line])).code).toBe(0)

    /** Runs a command in a fork while another one, which has begun before, waits to make its change. */
    async function runBeside(cli: Cli, first: string, second: string) {
      const child = cli.start(['exec', '--fork', 'fix', '-c', '--', `echo started; read line; ${first}`])
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
      })
      await once(child.stdout, 'data')
      await change(cli, second)
      const ended = once(child, 'close')
      child.stdin.end('\n')
      expect((await ended)[0], stderr).toBe(0)
      return { stderr, read: (path: string) => cli.ok('cat', '--vault', 'fix', path) }
    }

    it('joins the fork that the other one created meanwhile', async () => {
      const cli = project()
      writeFileSync(join(cli.files, 'ten'), '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n')
      const { stderr, read } = await runBeside(
        cli,
        'sed -i "s/^1$/I/; s/^9$/nine/" ten; echo 1 > one',
        'sed -i "s/^1$/one/" ten; echo 2 > two',
      )
      expect(stderr).toMatch(/! \/ten was changed meanwhile .* checkpoint \S+$/m)
      expect(await read('/ten')).toBe('I\n2\n3\n4\n5\n6\n7\n8\nnine\n10\n')
      expect([await read('/one'), await read('/two')]).toEqual(['1\n', '2\n'])
      expect(JSON.parse(await cli.ok('forks', '--json'))).toHaveLength(1)
    })

    it('creates one fork of a new name, whichever of them ends first or is killed', async () => {
      const cli = project()
      const killed = cli.start(['exec', '--fork', 'fix', '-c', '--', 'echo started; read line'])
      await once(killed.stdout, 'data')
      const ended = once(killed, 'close')
      const others = ['1', '2', '3'].map((name) => change(cli, `echo ${name} > ${name}`))
      killed.kill('SIGKILL')
      await Promise.all([ended, ...others])
      expect(JSON.parse(await cli.ok('forks', '--json'))).toHaveLength(1)
      expect(await cli.ok('ls', '--vault', 'fix')).toBe('1\n2\n3\n')
    })

    it('keeps both changes of a file, of other lines, and both files', async () => {
      const cli = project()
      writeFileSync(join(cli.files, 'ten'), '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n')
      await change(cli, 'echo begun > begun; sed -i s/^5$/five/ ten')
      const { stderr, read } = await runBeside(
        cli,
        'sed -i s/^9$/nine/ ten; echo 1 > one; chmod 755 begun',
        'sed -i s/^1$/one/ ten; echo 2 > two; echo more >> begun',
      )
      expect(await read('/ten')).toBe('one\n2\n3\n4\nfive\n6\n7\n8\nnine\n10\n')
      expect([await read('/one'), await read('/two'), await read('/begun')]).toEqual([
        '1\n',
        '2\n',
        'begun\nmore\n',
      ])
      expect(stderr).not.toContain('meanwhile')
    })

    it('keeps quiet about an index of git that both only looked at', async () => {
      const cli = project()
      const git = (...args: string[]) => execFileSync('git', args, { cwd: cli.files })
      git('init', '-q')
      git('add', '.')
      await change(cli, 'echo begun > begun')
      const { stderr } = await runBeside(
        cli,
        'touch -d 2001-01-01 a.txt; git status --short; echo 1 > one',
        'touch -d 2002-02-02 src/b.txt; git status --short; echo 2 > two',
      )
      expect(stderr).toContain('/one')
      expect(stderr).not.toContain('meanwhile')
    })

    it('says which version of the same lines it replaced, and where that is', async () => {
      const cli = project()
      await change(cli, 'echo 0 > log; mkdir d; echo x > d/x')
      const { stderr, read } = await runBeside(cli, 'echo 1 >> log; rm -r d', 'echo 2 >> log; echo y > d/x')
      expect(await read('/log')).toBe('0\n1\n')
      const [, checkpoint = ''] = /! \/log was changed meanwhile .* checkpoint (\S+)$/m.exec(stderr) ?? []
      expect(stderr).toContain('! /d/x was changed meanwhile')
      expect(await cli.ok('cat', '--vault', 'fix', '/log', '--at', checkpoint)).toBe('0\n2\n')
      expect(await cli.ok('cat', '--vault', 'fix', '/d/x', '--at', checkpoint)).toBe('y\n')
    })
  })

  it('runs a command several times in parallel, and compares the results', async () => {
    const cli = project()
    const run = await cli.run([
      'exec',
      '--times',
      '2',
      '-c',
      '--',
      'echo $COPPICE_LANE | tee lane; exit $COPPICE_LANE',
    ])
    expect(run.code).toBe(1)
    expect(run.stdout.split('\n').sort()).toEqual(['', '[1] 1', '[2] 2'])
    expect(run.stderr).toMatch(/^1 +files-\d +exit 1 .* 1 change +\/lane$/m)
    expect(run.stderr).toMatch(/^2 +files-\d +exit 2 .* 1 change +\/lane$/m)
  })

  it('works on a vault, whose fork can be merged', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.run(['write', '--vault', 'base', '/f.txt'], { input: 'hello\n' })
    const run = await cli.run([
      'exec',
      '--vault',
      'base',
      '-c',
      '--',
      'echo more >> f.txt; mkdir d; echo 1 > d/1',
    ])
    expect(run.stderr).toContain('coppice merge base-1')
    expect(await cli.ok('cat', '--vault', 'base', '/f.txt')).toBe('hello\n')
    await cli.run(['exec', '--vault', 'base', '--fork', 'base-1', '--', 'rm', '-r', 'd'])
    expect(await cli.ok('diff', '--vault', 'base-1')).toBe('M /f.txt\n')
    await cli.ok('merge', 'base-1')
    expect(await cli.ok('cat', '--vault', 'base', '/f.txt')).toBe('hello\nmore\n')
  })

  it.each(SESSIONS)('leaves no unreported fork of a vault, in a session of kind %s', async (session) => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.run(['write', '--vault', 'base', '/f.txt'], { input: 'hello\n' })
    const exec = ['exec', '--vault', 'base', '--session', session]
    expect(await cli.run([...exec, '--', 'touch', 'f.txt'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await cli.json('vault', 'list')).toHaveLength(1)
    expect((await cli.run([...exec, '-c', '--', 'mkfifo pipe'])).stderr).toMatch(/^coppice: not kept: \/pipe/)
    expect(await cli.json('vault', 'list')).toHaveLength(1)
    await cli.ok('mkdir', '--vault', 'base', '/d')
    expect((await cli.run([...exec, '--', 'chmod', '700', 'd'])).stderr).toContain(
      'permissions of directories\n\nin base-1: ',
    )
  })

  it('works in a copy on request', async () => {
    const cli = project()
    const run = await cli.run(['exec', '--session', 'dir', '--json', '-c', '--', SCRIPT])
    expect(JSON.parse(run.stdout).result).toMatchObject({
      session: 'dir',
      changed_files: { added: ['/new.txt'], modified: ['/a.txt'], deleted: ['/src/b.txt'] },
    })
  })
})

const NOBODY = { uid: 65_534, gid: 65_534 }

it.skipIf(whyNotNobody() !== undefined)('coppice exec needs no privileges', () => {
  const cli = project()
  for (const path of [cli.scratch, cli.files, ...readdirSync(cli.files, { recursive: true })]) {
    chownSync(resolve(cli.files, String(path)), NOBODY.uid, NOBODY.gid)
  }
  const run = (...args: string[]) => {
    const env = { ...process.env, NODE_OPTIONS: '', HOME: cli.scratch, COPPICE_HOME: cli.home }
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin/coppice.js'), ...args], {
      ...NOBODY,
      cwd: cli.files,
      encoding: 'utf8',
      env,
    })
    expect({ status, stderr }, args.join(' ')).toMatchObject({ status: 0 })
    return stdout
  }
  expect(run('exec', '-c', '--', `id -u; ${SCRIPT}; chmod 700 src`)).toBe('65534\nhi\n')
  run('apply')
  expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
  expect(statSync(join(cli.files, 'src')).mode & 0o777).toBe(0o700)
  expect(statSync(join(cli.files, 'new.txt')).uid).toBe(NOBODY.uid)
})

/** Lists the command lines of all processes. */
function processes(): string {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
}
