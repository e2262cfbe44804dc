import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AgentCatalog } from '../../agents/index.ts'
import { HostFs } from '../../backends/host/index.ts'
import { CleanupStack } from '../../machine/index.ts'
import { type FileSystem, MemoryFs, MountTable } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { packageRoot } from '../package-root.ts'
import { isHomeMissing, resolveHomePath } from './home-access.ts'

/** Opens the agents and skills of the home, if there is one, and of the package. Creates nothing, unlike a daemon. */
export async function withCatalog<Result>(
  call: CommandInvocation,
  work: (catalog: AgentCatalog) => Promise<Result>,
): Promise<Result> {
  const home = await resolveHomePath(call)
  // Throws for a home that is a file, or that cannot be read.
  isHomeMissing(home)
  await using cleanup = new CleanupStack()
  const mounts: Record<string, FileSystem> = { '/': new MemoryFs() }
  for (const name of ['agents', 'skills']) {
    const directory = join(home, name)
    if (existsSync(directory)) mounts[`/${name}`] = cleanup.use(new HostFs(directory))
  }
  const builtIn = cleanup.use(new HostFs(packageRoot))
  return await work(
    new AgentCatalog([
      { origin: 'home', fs: new MountTable(mounts) },
      { origin: 'built in', fs: builtIn },
    ]),
  )
}
