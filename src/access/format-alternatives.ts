const MAX_SHOWN_PATHS = 12

/** Formats what a caller may do, as the end of a denial: `it may write below /shared and /home/alice`. */
export function formatAlternatives(verb: string, paths: readonly string[]): string {
  const more = paths.length > MAX_SHOWN_PATHS ? [`${paths.length - MAX_SHOWN_PATHS} more`] : []
  const [last, ...others] = [...paths.slice(0, MAX_SHOWN_PATHS), ...more].reverse()
  if (last === undefined) return 'it may only read'
  return `it may ${verb} ${others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`}`
}
