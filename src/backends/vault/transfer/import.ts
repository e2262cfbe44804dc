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

/** What an import works on. */
export interface ImportJob {
  readonly directory: string
  readonly vault: string
  /** The directory of the home: never imported into itself. Undefined if it is nowhere on this machine. */
  readonly homePath: string | undefined
}

/**
 * Brings a directory of the machine into a vault: content, links as links, permissions and times.
 * What is in the vault with equal size, permissions and time is left alone, so an interrupted import goes on when it
 * is run again. Links are never followed. What cannot be read is reported, and the rest goes on. ENOENT, ENOTDIR and
 * EACCES for the directory itself, ENOENT for the vault.
 */
export async function importDirectory(
  home: StoreHome,
  job: ImportJob,
  options: ImportOptions = {},
): Promise<ImportReport> {
  options.signal?.throwIfAborted()
  const { directory, vault, homePath } = job
  const log = await home.openVault(vault)
  const descent = new DirectoryStack(openSource(directory))
  try {
    const avoided = homePath === undefined ? undefined : readIdentity(homePath)
    if (avoided !== undefined && isSameFile(descent.here, avoided))
      throw new HostFault('EINVAL', 'it is the home of the vault; name another directory')
    const target = await VaultTarget.open(log, home.blobs, toProvenance(options))
    const into = await target.prepareRoot(checkPath(options.into ?? '/', 'import'))
    return await new ImportWalk({ target, descent, avoided, options }).run(into.path, into.seen)
  } catch (error) {
    throw hostError(error, directory, 'import')
  } finally {
    descent.close()
  }
}

function openSource(directory: string): HostDirectory {
  try {
    return openHostDirectory(directory)
  } catch (error) {
    throw hostError(error, directory, 'import')
  }
}

function readIdentity(path: string): HostIdentity {
  const directory = openHostDirectory(path)
  directory.close()
  return directory
}
