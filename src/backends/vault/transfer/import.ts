import { statSync } from 'node:fs'
import type { StoreHome } from '../../../store/index.ts'
import { checkPath } from '../../../vfs/index.ts'
import { toProvenance } from '../to-provenance.ts'
import {
  DirectoryStack,
  type HostDirectory,
  type HostIdentity,
  isSameFile,
  openHostDirectory,
} from './host-directory.ts'
import { HostFault, hostError } from './host-fault.ts'
import type { ImportOptions, ImportReport } from './import-report.ts'
import { ImportWalk } from './import-walk.ts'
import { VaultTarget } from './vault-target.ts'

/** The source and the target of an import. */
export interface ImportJob {
  readonly directory: string
  readonly vault: string
  /** The directory of the home, which is never imported into one of its vaults. Undefined for a home in memory. */
  readonly homePath: string | undefined
}

/**
 * Imports a directory of the machine into a vault: content, links as links, permissions and times.
 *
 * Files with equal size, permissions and time are skipped, so a repeated import continues an interrupted one. Links are
 * never followed. Unreadable entries are reported and the import continues. ENOENT, ENOTDIR and EACCES for the
 * directory itself, EINVAL if it is the home or inside of it, ENOENT for the vault or the home.
 */
export async function importDirectory(
  home: StoreHome,
  job: ImportJob,
  options: ImportOptions = {},
): Promise<ImportReport> {
  options.signal?.throwIfAborted()
  const { directory, vault, homePath } = job
  const log = await home.openVault(vault)
  const directories = new DirectoryStack(openSource(directory))
  try {
    const avoided = homePath === undefined ? undefined : readIdentity(homePath)
    if (avoided !== undefined) assertOutside(directories.current, avoided)
    const target = await VaultTarget.open(log, home.blobs, toProvenance(options))
    const into = await target.prepareRoot(checkPath(options.into ?? '/', 'import'))
    return await new ImportWalk({ target, directories, avoided, options }).run(into.path, into.existing)
  } catch (error) {
    throw hostError(error, directory, 'import')
  } finally {
    directories.close()
  }
}

function openSource(directory: string): HostDirectory {
  try {
    return openHostDirectory(directory)
  } catch (error) {
    throw hostError(error, directory, 'import')
  }
}

/** Returns the identity of the home. Its own errors name it, so that nobody looks for the source. */
function readIdentity(homePath: string): HostIdentity {
  try {
    const { dev, ino } = statSync(homePath, { bigint: true })
    return { dev, ino }
  } catch (error) {
    throw hostError(error, homePath, 'import')
  }
}

/** Throws EINVAL for the home and every directory inside of it, whatever path led there. */
function assertOutside(directory: HostDirectory, home: HostIdentity): void {
  let current = directory.enter('.')
  try {
    while (!isSameFile(current, home)) {
      const below = current
      current = below.enter('..')
      below.close()
      // The root is its own parent.
      if (isSameFile(current, below)) return
    }
  } finally {
    current.close()
  }
  throw new HostFault('EINVAL', 'the directory is the home of the vault or inside of it; name another one')
}
