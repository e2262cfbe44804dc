const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats the time since a moment: `now`, `5 min`, `3 h`, `2 d`. */
export function formatAge(since: string | number, now: number = Date.now()): string {
  const passed = now - new Date(since).getTime()
  if (Number.isNaN(passed)) return ''
  if (passed < MINUTE) return 'now'
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`
  return `${Math.floor(passed / DAY)} d`
}

/** Formats a moment for people, to the second. */
export function formatMoment(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday
    ? date.toLocaleTimeString()
    : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}

/** Formats a count with its noun: `1 file`, `2 files`. */
export function formatCount(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}

/** Formats a count in few characters: `950`, `12.4k`, `3.1M`. */
export function formatShort(count: number): string {
  if (count < 1000) return String(count)
  if (count < 1_000_000) return `${trimZero((count / 1000).toFixed(1))}k`
  return `${trimZero((count / 1_000_000).toFixed(1))}M`
}

/** Formats a number of bytes: `12 B`, `3.4 KB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${trimZero((bytes / 1000).toFixed(1))} KB`
  return `${trimZero((bytes / 1_000_000).toFixed(1))} MB`
}

function trimZero(text: string): string {
  return text.replace(/\.0$/, '')
}
