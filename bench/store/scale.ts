import type { Settings } from '../harness/benchmark.ts'

const QUICK_DIVISOR = 20
const MIB = 1024 ** 2

/** How much of everything: what the labels name, or a twentieth of it. */
export interface Scale {
  /** Files of 1 KiB. */
  readonly textFiles: number
  /** The same for those who do a few hundred a second. */
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

export function scaleOf({ isQuick }: Settings): Scale {
  const scaled = (size: number) => (isQuick ? size / QUICK_DIVISOR : size)
  return {
    textFiles: scaled(10_000),
    slowTextFiles: scaled(2000),
    memoryOperations: scaled(20_000),
    largeFileBytes: isQuick ? 16 * MIB : 256 * MIB,
    slowLargeFileBytes: isQuick ? MIB : 16 * MIB,
    overwrites: scaled(10_000),
    vaultFiles: {
      '1k': scaled(1000),
      '10k': scaled(10_000),
      '100k': scaled(100_000),
      '1m': scaled(1_000_000),
    },
    searchedFiles: scaled(100_000),
  }
}
