import type { Target } from './benchmark.ts'
import { formatBytes, formatRatio, formatSeconds } from './format.ts'
import type { Results } from './results.ts'

/**
 * Creates targets about the first subject of a benchmark: by itself, beside a peer, or one of its works beside another.
 */
export class Targets {
  readonly #ours: string

  constructor(ours: string) {
    this.#ours = ours
  }

  /** Creates a target: at a work, ours is at least `factor` times as fast as a peer. */
  atLeast(factor: number, peer: string, work: string, label: string): Target {
    return {
      label: `${label} at least ${factor}× ${peer}`,
      judge: (results) => {
        const speedup = results.speedup(this.#ours, peer, work)
        if (speedup === undefined) return undefined
        return { isReached: speedup >= factor, found: `${formatRatio(speedup)} ${peer}` }
      },
    }
  }

  within(seconds: number, work: string, label: string): Target {
    return this.#below(seconds, work, `${label} under ${formatSeconds(seconds)}`, formatSeconds)
  }

  below(bytes: number, work: string, label: string): Target {
    return this.#below(bytes, work, `${label} under ${formatBytes(bytes)}`, formatBytes)
  }

  atMost(factor: number, work: string, label: string): Target {
    return this.#below(factor, work, `${label} at most ${formatRatio(factor)}`, formatRatio)
  }

  perSecond(rate: number, work: string, label: string): Target {
    const asRate = (seconds: number) => `${Math.round(1 / seconds).toLocaleString('en-US')}/s`
    return this.#below(1 / rate, work, `${label} at least ${rate.toLocaleString('en-US')}/s`, asRate)
  }

  /** Creates a target: of two works of ours, one takes at most `factor` times as long as the other. */
  slowdown(label: string, factor: number, work: string, base: string): Target {
    return {
      label,
      judge: (results) => {
        const ratio = this.#ratio(results, work, base)
        return ratio === undefined ? undefined : { isReached: ratio <= factor, found: formatRatio(ratio) }
      },
    }
  }

  /** Creates a target: of two works of ours, one is at least `factor` times as fast as the other. */
  speedup(label: string, factor: number, work: string, base: string): Target {
    return {
      label,
      judge: (results) => {
        const ratio = this.#ratio(results, base, work)
        return ratio === undefined ? undefined : { isReached: ratio >= factor, found: formatRatio(ratio) }
      },
    }
  }

  #below(limit: number, work: string, label: string, format: (value: number) => string): Target {
    return {
      label,
      judge: (results) => {
        const found = results.value(this.#ours, work)
        return found === undefined ? undefined : { isReached: found <= limit, found: format(found) }
      },
    }
  }

  #ratio(results: Results, work: string, base: string): number | undefined {
    const one = results.value(this.#ours, work)
    const other = results.value(this.#ours, base)
    return one === undefined || other === undefined ? undefined : one / other
  }
}
