import { readFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, loadavg, platform } from 'node:os'

/** Conditions besides the code that numbers depend on. */
export interface Conditions {
  readonly node: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  /** Load average of the minute before. Above zero, other processes had a share of the machine. */
  readonly loadBefore: number
  /** The exact versions in bench/package.json. */
  readonly peers: Readonly<Record<string, unknown>>
}

/** Reads the conditions. Call it before the run, which is itself a load. */
export async function observeConditions(): Promise<Conditions> {
  return {
    node: process.version,
    platform: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    loadBefore: loadavg()[0] ?? 0,
    peers: await readPeerVersions(),
  }
}

export function describeConditions({ node, platform, cores, loadBefore }: Conditions): string {
  return `Node ${node}, ${platform}, ${cores} cores, load average before the run ${loadBefore.toFixed(1)}.`
}

async function readPeerVersions(): Promise<Record<string, unknown>> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  if (typeof manifest !== 'object' || manifest === null || !('dependencies' in manifest)) return {}
  return { ...Object(manifest.dependencies) }
}
