import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const GATED = ['curl', '--silent', '--max-time', '1', 'http://127.0.0.1:9/']
const program = [process.execPath, join(root, 'bin/coppice.js')]

/** Creates a project in the working directory of the program. */
function project(): Cli {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a.txt'), 'one\n')
  return cli
}

describe('coppice exec --times', () => {
  it('reports the outcome of each run, and one of them can be applied', async () => {
    const cli = project()
    const script =
      'echo $COPPICE_LANE > lane; if [ $COPPICE_LANE = 2 ]; then mkfifo pipe; echo begun; sleep 4322; fi'
    const run = await cli.run(['exec', '--times', '2', '--timeout', '2', '-c', '--', script])
    expect(run).toMatchObject({ code: 124, stdout: '[2] begun\n' })
    expect(run.stderr).toMatch(/^coppice: \[2\] not kept: \/pipe; /)
    const [, first = ''] = run.stderr.match(/^1 +(files-\d) +exit 0 .* 1 change +\/lane$/m) ?? []
    expect(run.stderr).toMatch(/^2 +files-\d +timed out .* 1 change +\/lane$/m)
    await cli.ok('apply', first)
    expect(readFileSync(join(cli.files, 'lane'), 'utf8')).toBe('1\n')
  })

  it('shows the commits of each run as one change', async () => {
    const cli = project()
    const commit = 'git -c user.name=a -c user.email=b commit -q -a -m x'
    spawnSync('sh', ['-c', `git init -q -b main && git add . && ${commit}`], { cwd: cli.files })
    const script = `echo $COPPICE_LANE >> a.txt; ${commit}`
    const { stderr } = await cli.run(['exec', '-n', '2', '--fork', 'fix', '-c', '--', script])
    expect(stderr).toMatch(/^1 +fix-1 +exit 0 .* 2 changes +\/a\.txt, git: main moved$/m)
  })

  it('keeps and reports the other runs if one cannot run', async () => {
    const cli = project()
    const refused = await cli.run(['exec', '--times', '2', '--', ...GATED])
    const [, second = ''] = refused.stderr.match(/\[2\] .*coppice approve ([0-9a-f]{12})/) ?? []
    expect(await cli.ok('approve', second)).toContain('COPPICE_LANE=2')
    const run = await cli.run(['exec', '--times', '2', '--', ...GATED])
    expect(run.stderr).toMatch(
      /^coppice: \[1\] .*coppice approve [0-9a-f]{12}\n\n1 +- +failed\n2 +- +exit 7 /,
    )
    expect(run.code).toBe(1)
    await cli.run(['exec', '--times', '2', '--', ...GATED])
    await cli.ok('approve', second)
    const lanes = await cli.run(['exec', '--times', '2', '--json', '--', ...GATED])
    expect(JSON.parse(lanes.stdout)).toMatchObject([
      { error: { code: 'EACCES', approval: expect.any(String) }, fork: null },
      { kind: 'proxy_exec_result', request: { env: { COPPICE_LANE: '2' } }, result: { exit_code: 7 } },
    ])
  })

  it.skipIf(!hasProgram('python3'))('asks once for all runs on a terminal', async () => {
    const cli = project()
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
    const command = [...program, 'exec', '--times', '3', '--', ...GATED]
    const line = `cd ${cli.files} && ${command.join(' ')}`
    const terminal = new PseudoTerminal(['sh', '-c', line], env, [24, 200])
    await expect.poll(() => terminal.shown, { timeout: 30_000 }).toContain('Let it run 3 times? [y/N] ')
    terminal.type('y\n')
    expect(await terminal.ended()).toMatchObject({ code: 7 })
    expect(terminal.shown.match(/Let it run/g)).toHaveLength(1)
    expect(terminal.shown.match(/exit 7/g)).toHaveLength(3)
  })

  it('reports once why no run could start', async () => {
    const cli = project()
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
    const args = [...program.slice(1), 'exec', '--times', '3', '--', 'true']
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: '/', env, encoding: 'utf8' })
    expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 1, lines: 1 })
  })

  it('shows the next steps for forks of a vault, and none without forks', async () => {
    const cli = project()
    await cli.ok('vault', 'create', 'base')
    const made = await cli.run(['exec', '--vault', 'base', '--times', '2', '-c', '--', 'echo x > x'])
    expect(made.stderr).toContain('coppice merge <fork>')
    const none = await cli.run(['exec', '--times', '2', '--', 'true'])
    expect(none.stderr).toMatch(/^\n1 .*\n2 .*\n$/)
  })

  it('forwards bytes unchanged, and lines of any length', async () => {
    const cli = project()
    const args = [...program.slice(1), 'exec', '--times', '1', '-c', '--']
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
    const options = { cwd: cli.files, env, maxBuffer: 2 ** 26 }
    const bytes = spawnSync(process.execPath, [...args, String.raw`printf '\377\nlast'`], options).stdout
    expect(bytes).toEqual(Buffer.from('[1] \xff\n[1] last\n', 'latin1'))
    const long = 'head -c 30000000 /dev/zero | tr "\\0" x'
    const { stdout } = spawnSync(process.execPath, [...args, long], options)
    expect(stdout.filter((byte) => byte === 0x78)).toHaveLength(30_000_000)
    for (const line of stdout.toString('latin1').trimEnd().split('\n')) expect(line.slice(0, 4)).toBe('[1] ')
  })
})
