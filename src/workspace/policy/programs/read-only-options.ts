import { OptionTable } from './option-table.ts'
import { readOnlyBuiltinOptions } from './read-only-builtin-options.ts'
import { readOnlyFileOptions } from './read-only-file-options.ts'
import { readOnlyLauncherOptions } from './read-only-launcher-options.ts'
import { readOnlySystemOptions } from './read-only-system-options.ts'
import { readOnlyTextOptions } from './read-only-text-options.ts'

/**
 * Options with which programs are known to only read. Any other option, an abbreviated long option
 * included, makes a call `mutating`. That costs a checkpoint, and no unreviewed option passes as reading.
 */
export const readOnlyOptions: OptionTable = new OptionTable([
  ...readOnlyFileOptions,
  ...readOnlyTextOptions,
  ...readOnlySystemOptions,
  ...readOnlyBuiltinOptions,
  ...readOnlyLauncherOptions,
])
