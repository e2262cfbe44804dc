import type { ApiEntry, ApiName } from './public-api.ts'

/** Reports by file name, such as `coppice.api.md`: one for each subpath. */
export function formatReports(api: readonly ApiEntry[]): Map<string, string> {
  const shown = new Map<string, string>()
  return new Map(
    api.map(({ subpath, names }) => {
      const own = names.filter(({ id }) => !shown.has(id))
      const others = names.filter(({ id }) => shown.has(id))
      const text = formatReport(subpath, own, listByEntry(others, shown))
      for (const { id } of own) shown.set(id, subpath)
      return [`${getFileName(subpath)}.api.md`, text]
    }),
  )
}

/** Names with one spelling and several meanings, each with the files that declare it. */
export function findAmbiguousNames(api: readonly ApiEntry[]): string[] {
  const byName = Map.groupBy(
    api.flatMap(({ names }) => names),
    ({ name }) => name,
  )
  return [...byName]
    .filter(([, all]) => new Set(all.map(({ signature }) => signature)).size > 1)
    .map(([name, all]) => `${name}: ${[...new Set(all.map(({ file }) => file))].join(', ')}`)
}

/** Exported names without a doc comment. */
export function findUndocumented(api: readonly ApiEntry[]): string[] {
  const missing = api.flatMap(({ names }) => names).filter(({ doc }) => doc === '')
  return [...new Set(missing.map(({ id }) => id))].sort()
}

export function getFileName(subpath: string): string {
  return subpath === 'coppice' ? subpath : subpath.slice('coppice/'.length).replaceAll('/', '-')
}

function formatReport(
  subpath: string,
  own: readonly ApiName[],
  others: ReadonlyMap<string, string[]>,
): string {
  const parts = [`# \`${subpath}\`\n`]
  for (const { signature } of own) parts.push(`\`\`\`ts\n${signature}\n\`\`\`\n`)
  for (const [entry, names] of others) parts.push(`From \`${entry}\`: ${names.join(', ')}.\n`)
  return parts.join('\n')
}

function listByEntry(names: readonly ApiName[], shown: ReadonlyMap<string, string>): Map<string, string[]> {
  const grouped = Map.groupBy(names, ({ id }) => shown.get(id) ?? '')
  return new Map([...grouped].map(([entry, all]) => [entry, all.map(({ name }) => `\`${name}\``)]))
}
