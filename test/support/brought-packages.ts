import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './run-node.ts'

interface Lock {
  readonly packages: Record<
    string,
    { readonly dev?: boolean; readonly devOptional?: boolean; readonly peer?: boolean }
  >
}

/** Lists the packages that an installation of Coppice brings, as paths such as `node_modules/zod`. */
export function listBroughtPackages(): string[] {
  const { packages }: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer)
    .map(([path]) => path)
}
