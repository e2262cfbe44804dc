import { readFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, loadavg, platform } from 'node:os'

/** Conditions besides the code that numbers depend on. */
export interface Conditions {
  readonly node: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  /** How many processes wanted to run in the minute before: above zero, others had a share of the machine. */
  readonly loadBefore: number
  /** The exact versions in bench/package.json. */
  readonly peers: Readonly<Record<string, unknown>>
}

/** To be asked before the run, which is itself a load. */
export async function observeConditions(): Promise<Conditions> {
  return {
    node: process.version,
    platform: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    loadBefore: loadavg()[0] ?? 0,
    peers: await peerVersions(),
  }
}

export function describeConditions({ node, platform, cores, loadBefore }: Conditions): string {
  return `Node ${node}, ${platform}, ${cores} cores, load average before the run ${loadBefore.toFixed(1)}.`
}

async function peerVersions(): Promise<Record<string, unknown>> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  if (typeof manifest !== 'object' || manifest === null || !('dependencies' in manifest)) return {}
  return { ...Object(manifest.dependencies) }
}
