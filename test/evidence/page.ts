import { figureLabels } from '../support/figures.ts'
import type { Claim, ClaimGroup, Evidence, Form, FormResults, Outcome } from './claim.ts'

const BEGIN = '<!-- figures: npm run evidence rewrites what follows -->'
const END = '<!-- end of figures -->'
const forms: readonly Form[] = ['short', 'long']

/** Returns the page with its figures replaced. Throws if the page has lost the marks around them. */
export function replaceFigures(page: string, groups: readonly ClaimGroup[], evidence: Evidence): string {
  const [before, rest] = splitOnce(page, BEGIN)
  const [, after] = splitOnce(rest, END)
  return [before, BEGIN, '\n\n', formatFigures(groups, evidence), '\n', END, after].join('')
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`docs/evidence.md has no line '${mark}'; restore it`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}

function formatFigures(groups: readonly ClaimGroup[], evidence: Evidence): string {
  const runs = forms.flatMap((form) => {
    const results = evidence[form]
    return results === undefined ? [] : [`- ${form} form: ${formatDates(results)}, ${results.machine}`]
  })
  const sections = groups.map(({ title, claims }) => `### ${title}\n\n${formatTable(claims, evidence)}`)
  return [runs.join('\n'), ...sections].join('\n\n')
}

/** Rows may be of different days, since a run may be of some tests alone. */
function formatDates({ outcomes }: FormResults): string {
  const dates = [...new Set(Object.values(outcomes).map(({ date }) => date))].sort()
  return dates.length > 1 ? `${dates[0]} to ${dates.at(-1)}` : dates.join()
}

function formatTable(claims: readonly Claim[], evidence: Evidence): string {
  const rows = claims.map((claim) => {
    const cells = forms.map((form) => formatOutcome(claim, evidence[form]))
    const tests = claim.tests.map((path) => `\`${path}\``).join(', ')
    return `| ${claim.promise} | ${claim.method} | ${cells.join(' | ')} | ${tests} |`
  })
  return [
    '| promise | how it is tested | short form | long form | tests |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function formatOutcome({ promise, figures = [] }: Claim, results: FormResults | undefined): string {
  const outcome = results?.outcomes[promise]
  if (outcome === undefined) return '–'
  const counts = figures.flatMap((name) => {
    const count = outcome.figures[name]
    return count === undefined ? [] : [`${count.toLocaleString('en')} ${figureLabels[name]}`]
  })
  return [...counts, formatTests(outcome)].join('; ')
}

function formatTests({ passed, failed, skipped }: Outcome): string {
  const others = [failed > 0 ? `**${failed} fail**` : '', skipped > 0 ? `${skipped} skipped` : '']
  const passing = passed === 1 ? '1 test passes' : `${passed.toLocaleString('en')} tests pass`
  return [passing, ...others.filter((text) => text !== '')].join(', ')
}
