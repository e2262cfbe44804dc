import { VfsError } from '../../vfs/index.ts'

/** Loads the optional package on first use. ENOTSUP with the package to install. */
export async function loadJustBash(
  load: () => Promise<typeof import('just-bash')> = () => import('just-bash'),
): Promise<typeof import('just-bash')> {
  try {
    return await load()
  } catch (cause) {
    const detail = "the package 'just-bash' is needed: npm install just-bash"
    throw new VfsError('ENOTSUP', '/', { op: 'load', detail, cause })
  }
}
