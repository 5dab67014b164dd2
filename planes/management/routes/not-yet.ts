import { ADMINISTRATORS, EVERYONE, notYet, type Route } from '../define-route.ts'

/** Routes of the interface that this version does not implement. */
export const ROUTES_NOT_YET: readonly Route[] = [
  notYet('GET /sharing/settings', EVERYONE, 'The sharing policy of the deployment.'),
  notYet('GET /buckets/{bucket}/object-shares/{key}', EVERYONE, 'The shares of an object.'),
  notYet('POST /buckets/{bucket}/object-shares/{key}', ADMINISTRATORS, 'Shares an object.'),
  notYet('GET /shares/{id}', EVERYONE, 'One share.'),
  notYet('GET /shares/{id}/url', ADMINISTRATORS, 'The address of a share.'),
  notYet('POST /shares/{id}/revoke', ADMINISTRATORS, 'Revokes a share.'),
  notYet('DELETE /shares/{id}', ADMINISTRATORS, 'Deletes a share.'),
  notYet('GET /buckets/{bucket}/object-embeds/{key}', EVERYONE, 'The embeds of an object.'),
  notYet('POST /buckets/{bucket}/object-embeds/{key}', ADMINISTRATORS, 'Embeds an object.'),
  notYet('GET /embeds/{id}', EVERYONE, 'One embed.'),
  notYet('PATCH /embeds/{id}', ADMINISTRATORS, 'Changes an embed.'),
  notYet('GET /embeds/{id}/url', ADMINISTRATORS, 'The address of an embed.'),
  notYet('POST /embeds/{id}/revoke', ADMINISTRATORS, 'Revokes an embed.'),
  notYet('DELETE /embeds/{id}', ADMINISTRATORS, 'Deletes an embed.'),
]
