/** A route is one value: what it declares is what its handler gets, what the document says, and what its command asks. */
import { test } from 'tap'
import { ADMINISTRATOR, defineRoute, json } from '../../planes/management/routing/define-route.ts'
import { openApiDocument } from '../../planes/management/openapi/openapi.ts'
import { jsonResponse } from '../../planes/management/responses.ts'
import { command } from '../../planes/management/routing/route-command.ts'
import { BODY, FLAG, object, text, whole } from '../../planes/management/schemas/schema.ts'
import { queryNumber } from '../../planes/management/schemas/query.ts'

const ANSWER = object({ shelf: text(), books: whole() })

const putShelf = defineRoute({
  pattern: 'PUT /libraries/{library}/shelves/{shelf}',
  roles: ADMINISTRATOR,
  summary: 'Fills a shelf.',
  query: { floor: queryNumber(0) },
  request: object({ books: whole({ maximum: 30 }) }, { dusty: FLAG }),
  answer: { 200: json(ANSWER) },
  async handle(request) {
    const { shelf, library }: { shelf: string; library: string } = request.parameters
    const floor: number = request.query('floor')
    const { books, dusty }: { readonly books: number; readonly dusty?: boolean } = await request.body()
    // @ts-expect-error a part that the pattern does not have
    const room: string = request.parameters.room
    // @ts-expect-error a parameter that the route does not take
    const page: unknown = request.query('page')
    // @ts-expect-error a number is not a text
    const title: string = (await request.body()).books
    return jsonResponse(200, { shelf, books, library, floor, dusty, room, page, title })
  },
  command: command('shelf fill', 'fill a shelf', {
    arguments: { library: 'text', shelf: 'text', books: 'number' },
    options: { dusty: { flag: 'with dust' } },
    call: ({ books, dusty }) => ({ body: { books, dusty } }),
  }),
})

test('what a route declares', async (t) => {
  t.match(putShelf, {
    method: 'PUT',
    path: '/api/v1/libraries/{library}/shelves/{shelf}',
    body: 'json',
    changes: true,
    commands: [{ path: 'shelf fill', arguments: { library: 'text', shelf: 'text', books: 'number' } }],
  })
  t.match(openApiDocument('1', [putShelf]), {
    paths: {
      [putShelf.path]: {
        put: {
          operationId: 'putLibrariesLibraryShelvesShelf',
          parameters: [{ name: 'library' }, { name: 'shelf' }, { name: 'floor', schema: { type: 'integer' } }, {}],
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/PutLibrariesLibraryShelvesShelfRequest' } },
            },
          },
          responses: {
            200: {
              content: {
                'application/json': { schema: { $ref: '#/components/schemas/PutLibrariesLibraryShelvesShelfAnswer' } },
              },
            },
            403: {},
            413: {},
          },
        },
      },
    },
    components: {
      schemas: {
        PutLibrariesLibraryShelvesShelfRequest: { required: ['books'], additionalProperties: false },
        PutLibrariesLibraryShelvesShelfAnswer: { properties: ANSWER.schema.properties },
      },
    },
  })
})

function read(value: unknown): unknown {
  return putShelf.request?.read(value, BODY)
}

test('its body is read by its schema', async (t) => {
  t.same(read({ books: 3 }), { books: 3 })
  t.same(read({ dusty: true, books: 0 }), { books: 0, dusty: true })
  const wrong: [value: unknown, message: string][] = [
    [{}, 'books: is missing'],
    [{ books: 31 }, 'books: must be a whole number from 0 to 30'],
    [{ books: 1, dusty: null }, 'dusty: must be true or false'],
    [{ pages: 1 }, 'pages: unknown field'],
    [[], 'body: must be an object'],
  ]
  for (const [value, message] of wrong) t.throws(() => read(value), { code: 'INVALID_REQUEST', message })
})
