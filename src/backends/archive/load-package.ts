import { VfsError } from '../../vfs/index.ts'

/** Loads an optional package. ENOTSUP with the command to install it. */
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
