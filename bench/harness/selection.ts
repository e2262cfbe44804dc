import type { Benchmark, SubjectEntry } from './benchmark.ts'
import { type Options, UsageError } from './options.ts'

/** The subjects that were asked for, each with the parts that were asked for; all when none was named. */
export function chooseSubjects(
  { name, subjects }: Benchmark,
  wantedSubjects: readonly string[],
  wantedParts: readonly string[],
): readonly SubjectEntry[] {
  const names = subjects.map((subject) => subject.name)
  const parts = [...new Set(subjects.flatMap((subject) => subject.parts.map((part) => part.name)))]
  assertKnown(`'${name}' has no subject`, names, wantedSubjects)
  assertKnown(`'${name}' has no part`, parts, wantedParts)
  return subjects
    .filter((subject) => wantedSubjects.length === 0 || wantedSubjects.includes(subject.name))
    .map((subject) => ({
      ...subject,
      parts: subject.parts.filter((part) => wantedParts.length === 0 || wantedParts.includes(part.name)),
    }))
    .filter((subject) => subject.parts.length > 0)
}

/** Options only some benchmarks know. */
export function assertSettings({ name, engines, hasQuickForm }: Benchmark, options: Options): void {
  if (options.isQuick && !hasQuickForm) throw new UsageError(`'${name}' has no quick form`)
  if (options.engine === null) return
  if (engines === undefined) throw new UsageError(`'${name}' has no engines to choose from`)
  assertKnown(`'${name}' has no engine`, engines, [options.engine])
}

function assertKnown(problem: string, known: readonly string[], wanted: readonly string[]): void {
  const unknown = wanted.find((each) => !known.includes(each))
  if (unknown !== undefined) throw new UsageError(`${problem} '${unknown}'; there are ${known.join(', ')}`)
}
