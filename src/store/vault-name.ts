import { VfsError } from '../vfs/index.ts'

const VAULT_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

export function createMissingVaultError(name: string): VfsError {
  return new VfsError('ENOENT', name, { op: 'open', detail: `there is no vault '${name}'` })
}

export function createVaultExistsError(name: string): VfsError {
  return new VfsError('EEXIST', name, { op: 'create', detail: `there is a vault '${name}' already` })
}

/** Reports whether a vault can have a name. */
export function isVaultName(name: string): boolean {
  return VAULT_NAME_PATTERN.test(name)
}

/** EINVAL for a name that no vault can have. */
export function assertVaultName(name: string): void {
  if (isVaultName(name)) return
  const detail =
    'the name of a vault or fork is 1 to 64 letters, digits, - or _, and starts with a letter or digit'
  throw new VfsError('EINVAL', name, { op: 'create', detail })
}
