import { expect, it } from 'vitest'
import { getPermissions } from './permissions.ts'

it('permissions are those of the file system, without bits of the type', () => {
  expect(getPermissions({ type: 'file', mode: 0o100_600 })).toBe(0o600)
  expect(getPermissions({ type: 'file', mode: 0 })).toBe(0)
  expect(getPermissions({ type: 'directory', mode: 0o1777 })).toBe(0o1777)
})

it('permissions are the usual ones where a file system has none', () => {
  expect(getPermissions({ type: 'file', mode: null })).toBe(0o644)
  expect(getPermissions({ type: 'directory', mode: null })).toBe(0o755)
  expect(getPermissions({ type: 'symlink', mode: null })).toBe(0o777)
})
