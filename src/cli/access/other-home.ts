import { realpath } from 'node:fs/promises'
import { resolve as resolveFile } from 'node:path'
import type { Home } from '../../backends/vault/index.ts'
import { readConfig } from '../../config/index.ts'
import { CommandError } from '../framework/errors.ts'
import { withDamageReport } from './damaged-store.ts'
import { isHomeMissing, type OpenHome, toHomeAccessError } from './home-access.ts'

/** A second home of one command. */
export interface OtherHome {
  readonly home: Home
  /** Its location, always the same for the same home. */
  readonly location: string
}

/** Opens a second home, and closes it when the work ends. CommandError if it is missing, or the first one again. */
export async function withOtherHome<Result>(
  open: OpenHome,
  named: string,
  work: (other: OtherHome) => Promise<Result>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<Result> {
  const path = resolveFile(named)
  if (!create && (await isHomeMissing(path)))
    throw new CommandError(`there is no home in ${path}; name the directory of another home`)
  const location = await realpath(path).catch(() => path)
  if (location === (await realpath(open.path)))
    throw new CommandError(`${path} is the home of this command; name another one`)
  const { openHome } = await import('../../backends/vault/index.ts')
  const { engine, durability } = await readConfig(path)
  const settings = {
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
  return withDamageReport(path, async () => {
    await using home = await openHome({ path, ...settings }).catch((error: unknown) => {
      throw toHomeAccessError(path, error)
    })
    return await work({ home, location })
  })
}
