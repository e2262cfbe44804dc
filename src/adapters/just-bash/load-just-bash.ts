import { VfsError } from '../../vfs/index.ts'

/** The package, when it is first needed: it is not ours to require. ENOTSUP with what to install where it is not. */
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
