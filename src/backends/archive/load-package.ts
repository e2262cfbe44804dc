import { VfsError } from '../../vfs/index.ts'

/** A package that is installed only by those who use archives. ENOTSUP says how. */
export async function loadPackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    throw new VfsError('ENOTSUP', '/', {
      detail: `archives need the package ${name}: npm install ${name}`,
      cause,
    })
  }
}
