import { z } from 'zod'
import type { Vault } from '../../backends/vault/index.ts'
import { defineWebMethod, type MethodTable } from '../define-method.ts'
import { describeCheckpoint } from '../describe-checkpoint.ts'
import { restoreRow } from '../merge/restore-row.ts'
import type { OpenTreeRef } from '../trees/home-trees.ts'
import { assertCurrent, createRequestError, findRow, requireVault } from '../trees/tree-moment.ts'
import type { WebContext } from '../web-context.ts'

type RestoreMethod = 'createCheckpoint' | 'restoreTree' | 'revertFile'

const bodyText = z.string().max(4096)

export function createRestoreMethods(web: WebContext): MethodTable<RestoreMethod> {
  const { caller, trees } = web
  return {
    createCheckpoint: defineWebMethod(
      'createCheckpoint',
      z.strictObject({
        tree: bodyText,
        name: bodyText.exactOptional(),
        description: bodyText.exactOptional(),
      }),
      async ({ tree, name, description }) => {
        const open = await trees.open(tree)
        const vault = requireVault(open)
        assertCurrent(open)
        const { link, fork } = open.linked ?? {}
        if (link !== undefined && fork !== undefined) await link.markUsed(fork)
        const about = { ...(description !== undefined && { description }) }
        const created =
          link !== undefined && fork !== undefined
            ? await link.checkpoint(fork, name, about)
            : await vault.checkpoint(name, about)
        return describeCheckpoint(vault, created)
      },
    ),
    restoreTree: defineWebMethod('restoreTree', z.strictObject({ tree: bodyText }), async ({ tree }) => {
      const open = await trees.open(tree)
      const vault = requireVault(open)
      await restoreTree(web, open, vault)
      return { seq: await vault.getLastRow() }
    }),
    revertFile: defineWebMethod(
      'revertFile',
      z.strictObject({ tree: bodyText, path: bodyText, version: bodyText }),
      async ({ tree, path, version }) => {
        const open = await trees.open(tree)
        assertCurrent(open)
        const vault = requireVault(open)
        await vault.revert(path, version, { caller })
        return { seq: await vault.getLastRow() }
      },
    ),
  }
}

/**
 * Restores a vault or fork to a checkpoint, or a vault to any moment of its journal. EINVAL without a moment, and for a
 * fork of a directory at another moment than a checkpoint.
 */
async function restoreTree({ caller, home }: WebContext, open: OpenTreeRef, vault: Vault): Promise<void> {
  const { ref, linked } = open
  if (ref.kind === 'directory' || ref.at === undefined)
    throw createRequestError('name the moment to restore, such as vault:NAME@CHECKPOINT')
  if (ref.at !== 'base' && 'checkpoint' in ref.at) {
    if (linked?.fork !== undefined) await linked.link.restore(linked.fork, ref.at.checkpoint, { caller })
    else await vault.restore(ref.at.checkpoint, { caller })
  } else if (linked === undefined) await restoreRow(home, vault.name, (await findRow(open)) ?? 0, { caller })
  else throw createRequestError('a fork of a directory is restored to a checkpoint; choose one')
}
