/** One thing done to a home. */
export type Step =
  | {
      readonly act: 'write' | 'append'
      readonly vault: string
      readonly path: string
      readonly content: string
    }
  | { readonly act: 'mkdir' | 'remove'; readonly vault: string; readonly path: string }
  | { readonly act: 'rename'; readonly vault: string; readonly path: string; readonly to: string }
  /** Writes issued at once, which are committed together. */
  | {
      readonly act: 'burst'
      readonly vault: string
      readonly paths: readonly string[]
      readonly content: string
    }
  | { readonly act: 'checkpoint' | 'restore' | 'forget'; readonly vault: string; readonly name: string }
  | { readonly act: 'fork' | 'merge'; readonly vault: string; readonly name: string }
  | { readonly act: 'sync' }

export interface ScriptOptions {
  readonly seed: number
  /** A fork, two changes of it and a merge begin at every multiple of this. */
  readonly mergeEvery?: number
  /** Whether there are stretches of many small writes, long enough that the journal is folded by itself. */
  readonly hasBursts?: boolean
  /** Nothing but changes of files in one vault, each of which is one commit. */
  readonly isPlain?: boolean
}

const PATHS = ['/a', '/b', '/c', '/d/x', '/d/y', '/d/e/x', '/d/e/z', '/f/x', '/f/g/h/i', '/f/g', '/log', '/d']
const SIZES = [0, 9, 60, 255, 256, 257, 700, 4095, 4096, 5000, 33_000, 100_000]
const FORKS = 4
const CHECKPOINTS = 3
const STRETCH = 250

/**
 * An endless list of steps, the same for the same seed: a writer follows it, and whoever checks knows from the number
 * of the last acknowledged step what the home must hold.
 */
export function stepAt(options: ScriptOptions, number: number): Step {
  const { seed, mergeEvery = 400, hasBursts = true, isPlain = false } = options
  const random = randomOf(seed, number)
  const pick = <T>(from: readonly [T, ...T[]] | readonly T[], fallback: T): T =>
    from[Math.floor(random() * from.length)] ?? fallback
  const phase = number % mergeEvery
  if (phase < 4 && !isPlain) return mergeStep(number - phase, phase)
  const vault = isPlain || random() < 0.75 ? 'base' : `fork-${Math.floor(random() * FORKS)}`
  if (hasBursts && Math.floor(number / STRETCH) % 4 === 3 && random() < 0.6) {
    const first = Math.floor(random() * 40)
    const paths = Array.from({ length: 20 + first / 2 }, (_, index) => `/burst/f${first + index}`)
    return { act: 'burst', vault: 'base', paths, content: contentOf(number, pick([5, 300], 5)) }
  }
  const content = isPlain ? noiseOf : contentOf
  const dice = random() * (isPlain ? 0.92 : 1)
  const path = pick(PATHS, '/a')
  const name = `c${Math.floor(random() * CHECKPOINTS)}`
  if (dice < 0.4) return { act: 'write', vault, path, content: content(number, pick(SIZES, 0)) }
  if (dice < 0.62) return { act: 'append', vault, path, content: content(number, pick(SIZES.slice(0, 8), 0)) }
  if (dice < 0.68) return { act: 'mkdir', vault, path }
  if (dice < 0.78) return { act: 'remove', vault, path }
  if (dice < 0.92) return { act: 'rename', vault, path, to: pick(PATHS, '/b') }
  if (dice < 0.94) return { act: 'checkpoint', vault, name }
  if (dice < 0.955) return { act: 'forget', vault, name }
  if (dice < 0.965) return { act: 'restore', vault, name }
  if (dice < 0.985) return { act: 'fork', vault: 'base', name: `fork-${Math.floor(random() * FORKS)}` }
  return { act: 'sync' }
}

/** Between the fork and the merge nothing else happens, so what the merge makes is known: what the fork holds. */
function mergeStep(scene: number, phase: number): Step {
  const name = `merge-${scene}`
  if (phase === 0) return { act: 'fork', vault: 'base', name }
  if (phase === 3) return { act: 'merge', vault: 'base', name }
  return { act: 'write', vault: name, path: `/merged/${phase}`, content: contentOf(scene + phase, 600) }
}

/** No two steps write the same, so content tells who wrote it. */
function contentOf(number: number, size: number): string {
  return `${number} ${'.'.repeat(50)}\n`.repeat(Math.ceil(size / 50)).slice(0, size)
}

/** The same, hard to compress, so that it needs the room it seems to need. */
function noiseOf(number: number, size: number): string {
  const random = randomOf(number, size)
  const line = () => `${number} ${random().toString(36).slice(2)}${random().toString(36).slice(2)}\n`
  return Array.from({ length: Math.ceil(size / 15) }, line)
    .join('')
    .slice(0, size)
}

/** Numbers in [0, 1) that depend on nothing but the seed and the step. */
function randomOf(seed: number, number: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
