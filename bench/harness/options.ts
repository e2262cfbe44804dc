import { parseArgs } from 'node:util'

const DEFAULT_ROUNDS = 3

export interface Options {
  readonly help: boolean
  readonly names: readonly string[]
  readonly rounds: number
  /** File for the results; `results/<name>.json` when absent. */
  readonly json: string | undefined
  /** Subjects to run; all when empty. */
  readonly filter: readonly string[]
  /** Parts to run; all when empty. */
  readonly parts: readonly string[]
  readonly isQuick: boolean
  readonly engine: string | null
  /** Fails if a ratio is behind the stored baseline. */
  readonly isGated: boolean
  /** Stores the ratios as the new baseline. */
  readonly savesBaseline: boolean
  /** Writes the table of README.md. */
  readonly writesReadme: boolean
}

/** A mistake of the user: shown without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  if (values.readme && values.quick) throw new UsageError('--readme needs all of the work; leave out --quick')
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS)
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new UsageError(`--rounds takes a whole number from 1, not '${values.rounds}'`)
  }
  if (values.json !== undefined && positionals.length > 1) {
    throw new UsageError('--json names one file, so it goes with one benchmark')
  }
  return {
    help: values.help ?? false,
    names: positionals,
    rounds,
    json: values.json,
    filter: (values.filter ?? []).flatMap((list) => list.split(',')),
    parts: (values.part ?? []).flatMap((list) => list.split(',')),
    isQuick: values.quick ?? false,
    engine: values.engine ?? null,
    isGated: values.gate ?? false,
    savesBaseline: values['save-baseline'] ?? false,
    writesReadme: values.readme ?? false,
  }
}

export function formatHelp(benchmarks: readonly { name: string; summary: string }[]): string {
  const width = Math.max(...benchmarks.map(({ name }) => name.length))
  const list = benchmarks.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Usage: npm run bench -- <benchmark…> [options]

Runs Coppice and its peers side by side, one process each, and prints a table with ratios.

Benchmarks
${list.join('\n')}

Options
  --rounds N         rounds of every subject, the median counts (${DEFAULT_ROUNDS})
  --filter SUBJECT   run only this subject; repeat it, or separate several with commas
  --part PART        run only this part of each subject, as the progress line names it; likewise
  --quick            store: a twentieth of every size, to see that it works
  --engine ENGINE    store: what keeps the bytes of Coppice (sqlite)
  --gate             fail if a ratio lost more than 15 % of what bench/baseline has
  --save-baseline    store the ratios of this run in bench/baseline
  --readme           store: write the table of README.md
  --json FILE        write the results there instead of bench/results/<benchmark>.json
  --help             this text

Examples
  npm run bench -- vfs
  npm run bench -- vfs --rounds 1 --filter coppice,just-bash
  npm run bench -- persistent-map --json /tmp/map.json
  npm run bench -- store --quick --rounds 1
  npm run bench -- store --part files --filter coppice,node-disk
  npm run bench -- vfs --gate
`
}

function parse(args: readonly string[]): ReturnType<typeof parseStrictly> {
  try {
    return parseStrictly(args)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

// The return type is what parseArgs infers from the options.
function parseStrictly(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      rounds: { type: 'string' },
      json: { type: 'string' },
      filter: { type: 'string', multiple: true },
      part: { type: 'string', multiple: true },
      quick: { type: 'boolean' },
      engine: { type: 'string' },
      gate: { type: 'boolean' },
      'save-baseline': { type: 'boolean' },
      readme: { type: 'boolean' },
    },
  })
}
