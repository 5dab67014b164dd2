import { Name } from '../../parts/name.tsx'
import type { Statement } from './access-types.ts'
import { actionText, inVain, resourceText } from './explain.ts'

/** A statement in words. */
export function StatementText({ statement: { effect, actions, resources } }: { readonly statement: Statement }) {
  const warnings = inVain(actions, resources)
  return (
    <div class="stack">
      <p>
        <span class={effect === 'allow' ? 'badge good' : 'badge bad'}>{effect === 'allow' ? 'allows' : 'denies'}</span>{' '}
        <Name of={actions.map(actionText).join(', ')} /> on <Name of={resources.map(resourceText).join(', and ')} />.
      </p>
      {warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Name of={warning} />
        </p>
      ))}
    </div>
  )
}
