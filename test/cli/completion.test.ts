import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getLoaders, isCommandGroup } from '../../src/cli/command-registry.ts'
import { formatCommandHelp } from '../../src/cli/render/help.ts'
import { Cli } from './run-cli.ts'

const entries = await Promise.all(
  [...getLoaders()].map(async ([word, load]) => ({ word, entry: await load() })),
)
const commands = entries.flatMap(({ word, entry }) =>
  (isCommandGroup(entry) ? entry.commands : [entry]).map((command) => ({
    word,
    definition: command.definition,
  })),
)

describe('every command', () => {
  it.each(commands)(
    '$definition.name has a unique word, an example, and options without clashes',
    (command) => {
      const { word, definition } = command
      expect(definition.name.split(' ')[0]).toBe(word)
      expect(definition.examples.some((example) => example.includes(`coppice ${definition.name}`))).toBe(true)
      const help = formatCommandHelp(definition)
      expect(help).toContain('Examples:')
      expect(help).toContain('--json')
      const letters = help.match(/^ {2}-\w/gm) ?? []
      expect(new Set(letters).size).toBe(letters.length)
    },
  )
})

describe('completion', () => {
  it('has a script that bash accepts and that calls the program', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('vault', 'create', 'other')
    const script = await cli.ok('completion', 'bash')
    execFileSync('bash', ['-n'], { input: script })
    const offered = (line: string) => bashOffers(cli, script, line.split(' '))
    expect(offered('coppice che')).toEqual(['checkpoint'])
    expect(offered('coppice vault u')).toEqual(['use'])
    expect(offered('coppice vault use ')).toEqual(['base', 'other'])
    expect(offered('coppice find --ty')).toEqual(['--type'])
    expect(offered('coppice find --type ')).toEqual(['f', 'd', 'l'])
  })

  it('offers checkpoints and paths of the selected vault', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/src/a b.ts', '--text', 'x')
    await cli.ok('checkpoint', 'save', 'before')
    const offered = (...words: string[]) => offeredIn(cli, cli.files, words)
    expect(await offered('checkpoint', 'restore', '')).toEqual(['before'])
    expect(await offered('cat', '--at', 'b')).toEqual(['before'])
    expect(await offered('cat', '/s')).toEqual(['/src/'])
    expect(await offered('cat', 'src/')).toEqual(['src/a b.ts'])
    expect(await offered('ls', '--home', '')).toEqual([':files'])
    expect(await offered('frobnicate', '')).toEqual([])
  })
})

describe('completion in a directory with forks', () => {
  it('offers the forks of this directory, and no internal vault', async () => {
    const cli = new Cli()
    const [shop, other] = ['shop', 'other'].map((name) => join(cli.scratch, name))
    if (shop === undefined || other === undefined) throw new Error('two directories are needed')
    for (const cwd of [shop, other]) {
      mkdirSync(cwd)
      await cli.run(['exec', '--fork', `${basename(cwd)}-1`, '-c', '--', 'echo x > x'], { cwd })
    }
    await cli.ok('vault', 'create', 'base')
    const words = [['apply'], ['enter'], ['compare'], ['diff'], ['ui', 'diff']]
    for (const command of words) expect(await offeredIn(cli, shop, [...command, ''])).toEqual(['shop-1'])
    for (const command of [['drop'], ['merge'], ['exec', '--fork']])
      expect(await offeredIn(cli, other, [...command, ''])).toEqual(['base', 'other-1'])
    expect(await offeredIn(cli, shop, ['log', '--vault', ''])).toEqual(['base', 'other-1', 'shop-1'])
  })
})

/** Returns the words that the program offers in a directory. */
async function offeredIn(cli: Cli, cwd: string, words: readonly string[]): Promise<(string | undefined)[]> {
  const { stdout } = await cli.run(['__complete', ...words], { cwd })
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => line.split('\t')[0])
}

/** Returns the words that bash would offer for a line. */
function bashOffers(cli: Cli, script: string, words: readonly string[]): string[] {
  const program = `${script}
coppice() { "${process.execPath}" "${process.cwd()}/bin/coppice.js" "$@"; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_coppice
printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
  const output = execFileSync('bash', ['-c', program, 'bash', ...words], { encoding: 'utf8', env })
  return output.split('\n').filter((line) => line !== '')
}
