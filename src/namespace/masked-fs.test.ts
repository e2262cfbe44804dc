import { describe, it } from 'vitest'
import { fileSystemSuite } from '../conformance/index.ts'
import { SecretFiles, SecretMask } from '../secrets/index.ts'
import { MemoryFs } from '../vfs/index.ts'
import { MaskedFs } from './masked-fs.ts'
import { WorkspaceSecrets } from './workspace-secrets.ts'

fileSystemSuite(
  { describe, it },
  {
    name: 'MaskedFs without secrets',
    create: (seed) => {
      const fs = new MemoryFs(seed)
      const mask = new SecretMask(Buffer.alloc(32), 'test')
      return new MaskedFs(fs, new WorkspaceSecrets(fs, new SecretFiles(), async () => mask))
    },
  },
)
