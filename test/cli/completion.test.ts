import { execFileSync } from 'node:child_process'
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
    const offered = async (...words: string[]) =>
      (await cli.ok('__complete', ...words))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('\t')[0])
    expect(await offered('checkpoint', 'restore', '')).toEqual(['before'])
    expect(await offered('cat', '--at', 'b')).toEqual(['before'])
    expect(await offered('cat', '/s')).toEqual(['/src/'])
    expect(await offered('cat', 'src/')).toEqual(['src/a b.ts'])
    expect(await offered('ls', '--home', '')).toEqual([':files'])
    expect(await offered('frobnicate', '')).toEqual([])
  })
})

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
