import { StoreHome } from '../../store/index.ts'
import { assertOptions } from '../../vfs/index.ts'
import { Home } from './home.ts'
import { type HomeOptions, openEngine } from './open-engine.ts'
import { SharedHome } from './shared/index.ts'

/**
 * Opens a home, and creates it if it is missing. EINVAL for anything but options, and for an engine that does not exist or
 * is not the home's own, EIO if its store is lost or damaged, EACCES if another user owns it.
 */
export async function openHome(options: HomeOptions = {}): Promise<Home> {
  assertOptions(options, 'open', (path) => `openHome({ path: '${path}' })`)
  const { engine, location, mended, isShared } = await openEngine(options)
  const store = new StoreHome(engine)
  if (isShared === true && options.path !== undefined) return new SharedHome(store, options.path)
  return new Home(store, options.path, location, mended)
}
