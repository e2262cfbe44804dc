import { split } from '../vfs/index.ts'

/**
 * Folds a name by everything that some disk ignores: case, width and form, invisible characters, trailing dots and
 * spaces. Two names with the same result may be one file.
 */
export function foldName(name: string): string {
  const visible = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  return visible
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[. ]+$/, '')
}

/** Folds each name of a path. */
export function foldPath(path: string): string {
  return `/${split(path).map(foldName).join('/')}`
}
