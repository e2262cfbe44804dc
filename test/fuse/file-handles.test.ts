import { accessSync, constants } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { run } from './namespace-mount.ts'

const FORGET = '/proc/sys/vm/drop_caches'
const reason = whyNoMount() ?? whyNoForgetting()

function whyNoForgetting(): string | undefined {
  try {
    accessSync(FORGET, constants.W_OK)
    return undefined
  } catch {
    return 'the kernel cannot be made to forget'
  }
}

/** Opens a file by its handle after the kernel dropped what it knew of it, and prints what the file has. */
const BY_HANDLE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
class Handle(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]
os.makedirs('a/b')
with open('a/b/f', 'w') as f: f.write('kept')
handle, mount = Handle(bytes=128), ctypes.c_int()
if libc.name_to_handle_at(-100, b'a/b/f', ctypes.byref(handle), ctypes.byref(mount), 0) != 0:
    sys.exit('no handle: ' + os.strerror(ctypes.get_errno()))
def drop():
    os.sync()
    with open('${FORGET}', 'w') as f: f.write('2')
def read():
    place = os.open('.', os.O_RDONLY)
    fd = libc.open_by_handle_at(place, ctypes.byref(handle), os.O_RDONLY)
    os.close(place)
    if fd < 0: return os.strerror(ctypes.get_errno())
    with os.fdopen(fd) as f: return f.read()
drop()
print(read())
os.rename('a/b/f', 'a/g')
drop()
print(read())
`

describe.skipIf(reason !== undefined)(`file handles of a mount${reason ? `: ${reason}` : ''}`, () => {
  it('open a file that the kernel has forgotten, wherever it was moved', async () => {
    await using mounted = await MountedVault.create()
    expect(await run(mounted.path, 'python3', ['-c', BY_HANDLE])).toEqual({
      code: 0,
      out: 'kept\nkept\n',
    })
  })
})
