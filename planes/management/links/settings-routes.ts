import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'

const getSettings = defineRoute({
  pattern: 'GET /sharing/settings',
  roles: EVERYONE,
  summary: 'Which shares and embeds the deployment allows, and their base addresses.',
  answer: { 200: json(component('SharingSettings')) },
  handle(_request, { sharing }) {
    const { enabled, maximumLifetimeSeconds, requiresPassword, shareUrl, embedUrl } = sharing.settings()
    return jsonResponse(200, {
      enabled,
      maximum_lifetime_seconds: maximumLifetimeSeconds ?? null,
      require_password: requiresPassword,
      public_share_url: shareUrl,
      public_embed_url: embedUrl,
    })
  },
  command: command('share settings', 'show what the deployment allows of shares and embeds'),
})

export const SHARING_ROUTES: readonly Route[] = [getSettings]
