import { split } from '../vfs/index.ts'

/**
 * What is left of a name where some disk sees no difference: case, width and form, invisible characters, dots and
 * spaces at its end. Two names with the same rest may be one file.
 */
export function foldName(name: string): string {
  const visible = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[. ]+$/, '')
}

/** A path with each of its names folded. */
export function foldPath(path: string): string {
  return `/${split(path).map(foldName).join('/')}`
}
