import type { ContextCount } from './policy.ts'

/** Result of one task on one side. */
export interface SideResult {
  readonly count: ContextCount
  /** Output of the check that failed; undefined for a solved task. */
  readonly failure: string | undefined
}

/** Results of one task on both sides. */
export interface TaskResult {
  readonly task: string
  readonly ours: SideResult
  readonly theirs: SideResult
}

const CHARACTERS_PER_TOKEN = 4

/** Returns our tokens in relation to theirs, over all tasks. */
export function getRatio(results: readonly TaskResult[]): number {
  const [ours, theirs] = [sum(results.map(({ ours }) => ours)), sum(results.map(({ theirs }) => theirs))]
  return ours / theirs
}

/** Formats the results as a table in Markdown, and explains its columns. */
export function formatTable(results: readonly TaskResult[]): string {
  const ratios = results.map((result) => getRatio([result]))
  const mean = Math.exp(ratios.reduce((total, ratio) => total + Math.log(ratio), 0) / ratios.length)
  const [ours, theirs] = [results.map((result) => result.ours), results.map((result) => result.theirs)]
  const smaller = results.toSorted((a, b) => sum([a.theirs]) - sum([b.theirs])).slice(0, -1)
  return [
    '| task | coppice: solved | steps | tokens | server-filesystem: solved | steps | tokens | ratio |',
    '| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |',
    ...results.map(
      (result, index) =>
        `| ${result.task} | ${formatSide([result.ours])} | ${formatSide([result.theirs])} | ${formatRatio(ratios[index])} |`,
    ),
    `| all | ${formatSide(ours)} | ${formatSide(theirs)} | ${formatRatio(getRatio(results))} |`,
    '',
    `Geometric mean of the ratios: ${formatRatio(mean)}. Ratio without the largest task: ${formatRatio(getRatio(smaller))}.`,
    `System prompt and tool definitions per request: coppice ${formatFixed(ours)}, server-filesystem ${formatFixed(theirs)} tokens.`,
    'A step is one request to the model. Tokens are a quarter of the characters of all requests: each has the system',
    'prompt, the tool definitions (name, description, input schema as JSON), the intent, and all calls and results so far.',
  ].join('\n')
}

function formatSide(sides: readonly SideResult[]): string {
  const solved = sides.filter(({ failure }) => failure === undefined).length
  const verdict = sides.length > 1 ? `${solved} of ${sides.length}` : solved === 1 ? 'yes' : 'no'
  const steps = sides.reduce((total, { count }) => total + count.requests, 0)
  return `${verdict} | ${steps} | ${formatTokens(sum(sides))}`
}

function formatFixed(sides: readonly SideResult[]): string {
  const requests = sides.reduce((total, { count }) => total + count.requests, 0)
  return formatTokens(sides.reduce((total, { count }) => total + count.fixed, 0) / requests)
}

function sum(sides: readonly SideResult[]): number {
  return sides.reduce((total, { count }) => total + count.fixed + count.messages, 0)
}

function formatTokens(characters: number): string {
  return Math.round(characters / CHARACTERS_PER_TOKEN).toLocaleString('en')
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? '' : ratio.toFixed(2)
}
