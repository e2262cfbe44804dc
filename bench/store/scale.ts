import type { Settings } from '../harness/benchmark.ts'

const QUICK_DIVISOR = 20
const MIB = 1024 ** 2

/** Sizes of the works: what their labels name, or a twentieth of it for `--quick`. */
export interface Scale {
  /** Files of 1 KiB. */
  readonly textFiles: number
  /** The same for subjects that write a few hundred a second. */
  readonly slowTextFiles: number
  readonly memoryOperations: number
  readonly largeFileBytes: number
  readonly slowLargeFileBytes: number
  readonly overwrites: number
  /** Files of the vaults, by the name the works call them. */
  readonly vaultFiles: Readonly<Record<VaultSize, number>>
  readonly searchedFiles: number
}

export type VaultSize = '1k' | '10k' | '100k' | '1m'

export function chooseScale({ isQuick }: Settings): Scale {
  const scaleValue = (size: number) => (isQuick ? size / QUICK_DIVISOR : size)
  return {
    textFiles: scaleValue(10_000),
    slowTextFiles: scaleValue(2000),
    memoryOperations: scaleValue(20_000),
    largeFileBytes: isQuick ? 16 * MIB : 256 * MIB,
    slowLargeFileBytes: isQuick ? MIB : 16 * MIB,
    overwrites: scaleValue(10_000),
    vaultFiles: {
      '1k': scaleValue(1000),
      '10k': scaleValue(10_000),
      '100k': scaleValue(100_000),
      '1m': scaleValue(1_000_000),
    },
    searchedFiles: scaleValue(100_000),
  }
}
