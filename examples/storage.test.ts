// The storage of storage.ts held against the contract of a file system.
import { fileSystemSuite } from 'coppice/conformance'
import { fromStorage } from 'coppice/storage'
import { describe, it } from 'vitest'
import { MapStorage } from './storage.ts'

fileSystemSuite({ describe, it }, { name: 'MapStorage', create: () => fromStorage(new MapStorage()) })
