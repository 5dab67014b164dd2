import { visibleParts, visibleText } from '../text/visible.ts'

/** A name that others may have chosen: hidden characters are written out, and its text direction is isolated. */
export function Name({ of: name }: { readonly of: string }) {
  return (
    <bdi class="name" title={visibleText(name)}>
      {visibleParts(name).map(({ text, escaped }, index) =>
        escaped ? (
          <span class="escaped" key={index}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  )
}
