import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { TreeName } from '../../web-api/index.ts'
import { call } from '../client/api.ts'
import { useReload } from '../client/live.ts'
import { Notice } from './notice.tsx'
import { useResource } from './resource.ts'

export interface ImageViewProps {
  readonly tree: TreeName
  readonly path: string
  /** Describes the image to those who cannot see it. */
  readonly label: string
  /** Shown for a file that is no image. */
  readonly children: ComponentChildren
}

/** An image in a tree, with its size in pixels. */
export function ImageView({ tree, path, label, children }: ImageViewProps): VNode {
  const image = useResource(`${tree} ${path}`, (aborted) => call('readImage', { tree, path }, aborted))
  useReload((event) => event.type === 'journal' && event.tree === tree, image.reload)
  const [pixels, setPixels] = useState('')
  const [loaded, error] = [image.value.value, image.error.value]
  if (loaded === null) return <>{children}</>
  if (loaded === undefined)
    return error === undefined ? (
      <p class="soft pad" role="status">
        Reading the image…
      </p>
    ) : (
      <Notice title="The image could not be read" tone="bad">
        {error.message}
      </Notice>
    )
  return (
    <figure class="image-view">
      <img
        src={`data:${loaded.mimeType};base64,${loaded.data}`}
        alt={label}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setPixels(`, ${naturalWidth} × ${naturalHeight} pixels`)
        }
        onError={() => setPixels(', which this browser cannot show')}
      />
      <figcaption class="soft">
        {label}
        {pixels}
      </figcaption>
    </figure>
  )
}
